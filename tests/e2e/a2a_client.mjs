// The JavaScript A2A client against the fixture agent, over both bindings.
//
//     a2a_client.mjs URL PATH_TO_NODE_MODULES
//
// URL is where `.well-known/agent-card.json` is found; the modules hold `@a2a-js/sdk`.
// Prints what failed and, last, "N passed, M failed".
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [url, modules] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { ClientFactory, ClientFactoryOptions } = await load('@a2a-js/sdk/client');
const { Role, TaskState } = await load('@a2a-js/sdk');

let passed = 0;
let failed = 0;
function check(name, holds, told) {
  if (holds) passed += 1;
  else {
    failed += 1;
    console.error(`FAILED ${name}:`, JSON.stringify(told));
  }
}

const ask = (prefix, more = {}) => ({
  tenant: '',
  metadata: undefined,
  configuration: undefined,
  message: {
    messageId: `${prefix}-${randomUUID()}`,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text', value: 'hello' }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  },
});

async function talk(binding) {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    preferredTransports: [binding],
  });
  const client = await new ClientFactory(options).createFromUrl(`${url}/`, '.well-known/agent-card.json');

  const kinds = [];
  for await (const event of client.sendMessageStream(ask('tck-stream-001'))) {
    kinds.push(event.payload?.$case ?? Object.keys(event)[0]);
  }
  const expected = ['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate'];
  check(`${binding}: a stream in order`, kinds.join() === expected.join(), kinds);

  const sent = await client.sendMessage(ask('tck-input-required'));
  check(`${binding}: an agent can ask back`, sent.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED, sent);
  const more = ask('tck-complete-task', { taskId: sent.id, contextId: sent.contextId });
  const done = await client.sendMessage(more);
  check(`${binding}: and be answered`, done.status?.state === TaskState.TASK_STATE_COMPLETED, done);
  const kept = await client.getTask({ tenant: '', id: done.id, historyLength: undefined });
  check(`${binding}: the task is kept`, kept.history.length === 2, kept);
  try {
    const none = await client.getTask({ tenant: '', id: 'none', historyLength: undefined });
    check(`${binding}: unknown tasks`, false, none);
  } catch (error) {
    check(`${binding}: unknown tasks`, /task/i.test(String(error)), String(error));
  }
}

for (const binding of ['JSONRPC', 'HTTP+JSON']) {
  try {
    await talk(binding);
  } catch (error) {
    check(`${binding}: the run`, false, String(error?.stack ?? error));
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
