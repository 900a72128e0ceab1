// Stands for Testcontainers for Java.
package org.testcontainers.containers;

import org.testcontainers.containers.wait.strategy.Wait;

public class GenericContainer<SELF extends GenericContainer<SELF>> implements AutoCloseable {
    private int port;

    public GenericContainer(String image) {}

    @SuppressWarnings("unchecked")
    public SELF withExposedPorts(Integer... ports) {
        port = ports[0];
        return (SELF) this;
    }

    @SuppressWarnings("unchecked")
    public SELF waitingFor(Wait wait) {
        if (!wait.path.equals("/_sandbox/health") || wait.port != port) {
            throw new AssertionError(wait.path);
        }
        return (SELF) this;
    }

    public void start() {}

    public String getHost() {
        return System.getenv("STANDIN_HOST");
    }

    public Integer getMappedPort(int original) {
        return Integer.valueOf(System.getenv("STANDIN_PORT"));
    }

    @Override
    public void close() {}
}
