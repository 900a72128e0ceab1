// Stands for Testcontainers for Java.
package org.testcontainers.containers.wait.strategy;

public class Wait {
    public String path;
    public int port;

    public static Wait forHttp(String path) {
        Wait wait = new Wait();
        wait.path = path;
        return wait;
    }

    public Wait forPort(int port) {
        this.port = port;
        return this;
    }
}
