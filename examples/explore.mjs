// Exploration in Node's test runner, from Node 18 on, without packages: sandbox.mjs opens its worlds.
import { mkdirSync, writeFileSync } from 'node:fs'
import test from 'node:test'
import { control, openWorld } from './sandbox.mjs'

// Explores a test: it runs again and again, each time with other misfortunes, and fails if a bug was found. settings are
// those of POST /_sandbox/explorations. The test opens its worlds by the function that it gets; each needs a name if
// there are several.
export const explore = (name, settings, run) =>
  test(name, async (context) => {
    const { id } = await control('POST', '/explorations', { test: name, time: '60s', ...settings })
    const path = `/explorations/${id}`
    let limit // of all runs but the first, in milliseconds: ten times as long as that took, and five seconds more
    try {
      for (let next; !(next = await control('POST', `${path}/next`)).done; ) {
        const open = ({ name = 1, ...more } = {}) => openWorld({ id: next.prefix + name, ...more })
        const begun = Date.now()
        const failure = await within(limit, run(open).then(() => null, (error) => error))
        limit ??= 5_000 + 10 * (Date.now() - begun)
        await control('POST', `${path}/result`, { run: next.run, ...report(failure) })
        if (failure && next.run === 1) throw failure
      }
      const { finds, words } = await control('GET', path)
      const stories = finds.map((find) => [`${find.kind}: ${find.message}`, ...find.story, ...find.scenarios.map(keep)])
      words.concat(...stories).forEach((line) => context.diagnostic(line))
      const bugs = stories.filter((_, number) => finds[number].kind === 'bug')
      if (bugs.length > 0) throw new Error(['explored', ...bugs.flat()].join('\n'))
    } finally {
      await control('DELETE', path)
    }
  })

// The result of a run; one that takes too long, as a call without a time limit may, says nothing.
async function within(limit, run) {
  if (limit === undefined) return run
  let timer
  const late = new Promise((resolve) => { timer = setTimeout(resolve, limit, { refused: true }) })
  return Promise.race([run, late]).finally(() => clearTimeout(timer))
}

function report(failure) {
  if (failure === null) return { result: 'passed' }
  if (failure.refused) return { result: 'unknown' } // an act of the test itself was impossible
  const places = String(failure.stack).match(/[^/\s(]+:\d+:\d+/g) ?? [] // of files: the same for the same assertion
  return { result: 'failed', message: failure.message, assertion: places.find((place) => !/^sandbox.mjs/.test(place)) }
}

function keep({ name, text }) {
  mkdirSync('.sendbox/found', { recursive: true })
  writeFileSync(`.sendbox/found/${name}`, text)
  return `scenario: .sendbox/found/${name}`
}
