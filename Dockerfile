# The image of `sendbox serve`. One stage makes a virtual environment of what the server needs, the next adds the package,
# and only their results travel: pip, the sources and the tool that builds do not. A change of the sources leaves the
# layer of the dependencies as it is. Runs as any user, and needs no file system that can be written to.
#
# `scripts/image` builds it on the digest of scripts/base, with its labels; `docker build .` takes the newest base.

FROM python:3.13-slim AS base

FROM base AS dependencies
WORKDIR /build
ENV PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1
COPY constraints.txt pyproject.toml ./
COPY scripts/requirements.py scripts/
RUN python scripts/requirements.py people postgresql tls >requirements.txt \
 && python -m venv --without-pip /opt/sendbox \
 && python -m pip --python /opt/sendbox/bin/python install --requirement requirements.txt \
 && /opt/sendbox/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/sendbox/lib

FROM dependencies AS package
COPY README.md LICENSE ./
COPY src src
COPY schemas schemas
COPY scenarios scenarios
COPY scripts/sbom.py scripts/
# What the package adds to the environment, and nothing else, is in /package.
RUN python -m pip --python /opt/sendbox/bin/python install --no-deps --root /package . \
 && python -m compileall -q --invalidation-mode unchecked-hash -s /package -p / /package/opt/sendbox/lib \
 && cp -r /package/. / \
 && /opt/sendbox/bin/python scripts/sbom.py >/package/opt/sendbox/sbom.json

FROM base
# The first user has no rights; any other can be named, because none has to write.
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin sendbox
COPY --from=dependencies /opt/sendbox /opt/sendbox
COPY --from=package /package/opt/sendbox /opt/sendbox
COPY scripts/health /usr/local/bin/sendbox-health
ENV PATH=/opt/sendbox/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SENDBOX_HOST=0.0.0.0
# The slim images have no compiled standard library, and whoever serves cannot write: what a start imports is compiled
# here, by importing it once.
RUN python -c 'import aiohttp, faker, httpx, jinja2, jsonschema, psycopg, trustme, uvloop, sendbox.app, sendbox.assembly, sendbox.cli.serve'
USER 10001
WORKDIR /work
# 7358 has the certificate of SENDBOX_TLS=self.
EXPOSE 7357 7358
# Without --start-interval, which not all builders know: docs/container.md says how a recipe sets it.
HEALTHCHECK --interval=2s --timeout=5s --retries=5 CMD ["/usr/local/bin/sendbox-health"]
ENTRYPOINT ["sendbox"]
CMD ["serve"]
# Last, because they change with each release. The workflow of a release sets them.
ARG VERSION=unreleased
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Sendbox" \
      org.opencontainers.image.description="A deterministic sandbox of a messaging, verification and partner-management service" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE" \
      org.opencontainers.image.base.name="docker.io/library/python:3.13-slim"
