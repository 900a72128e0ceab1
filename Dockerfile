# The image of `sendbox serve`: a virtual environment made in one stage and copied into the next, so that neither pip
# nor the sources travel. Runs as a user without rights and needs no file system that can be written to.

FROM python:3.13-slim AS build
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
COPY schemas schemas
COPY scenarios scenarios
RUN python -m venv --without-pip /opt/sendbox \
 && PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
    python -m pip --python /opt/sendbox/bin/python install --no-cache-dir --no-compile '.[people,tls]' \
 && /opt/sendbox/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/sendbox/lib

FROM python:3.13-slim
COPY --from=build /opt/sendbox /opt/sendbox
COPY scripts/health /usr/local/bin/sendbox-health
ENV PATH=/opt/sendbox/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SENDBOX_HOST=0.0.0.0
# The slim images have no compiled standard library, and whoever serves cannot write: what a start imports is compiled
# here, by importing it once.
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin sendbox \
 && python -c 'import aiohttp, faker, httpx, jinja2, jsonschema, trustme, uvloop, sendbox.app, sendbox.cli.serve'
USER 10001
WORKDIR /work
EXPOSE 7357
HEALTHCHECK --interval=2s --timeout=5s --retries=5 CMD ["/usr/local/bin/sendbox-health"]
ENTRYPOINT ["sendbox"]
CMD ["serve"]
