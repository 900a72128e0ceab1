// Stands for Testcontainers for Node.
import assert from 'node:assert/strict'

export const Wait = { forHttp: (path, port) => ({ path, port }) }

export class GenericContainer {
  withExposedPorts(port) {
    this.port = port
    return this
  }

  withWaitStrategy(strategy) {
    assert.deepEqual(strategy, { path: '/_sandbox/health', port: this.port })
    return this
  }

  async start() {
    return {
      getHost: () => process.env.STANDIN_HOST,
      getMappedPort: () => Number(process.env.STANDIN_PORT),
      stop: async () => {},
    }
  }
}
