import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { untilReachable } from '@countersign/testkit/until';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { openPolicy } from './_added-servers.ts';
import { startEverything } from './_everything.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { sessionClient } from './_session-clients.ts';

const uri = 'demo://resource/dynamic/text/1';

let test: TestKernel;
let everything: Awaited<ReturnType<typeof startEverything>>;
beforeAll(async () => {
  everything = await startEverything();
  const servers = [{ server_id: 'everything', transport: 'http', trust_annotations: true, url: everything.url }];
  test = await startTestKernel({
    env: { GOV_MCP_SERVERS: JSON.stringify({ servers }) },
    overrides: { mcpSessionTimes: { streamTickMs: 100 } },
  });
  await test.activate('*', openPolicy);
});
afterAll(async () => {
  await test.close();
  everything.stop();
});

it('reports changes of a resource of a real server of 2025-11-25 to a real client of 2025-11-25', async () => {
  const { client } = await sessionClient({ url: test.kernel.url });
  const updated: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri));
  await client.subscribeResource({ uri });
  // The server reports each change to the resources that are subscribed at that moment.
  await client.callTool({ name: 'everything.toggle-subscriber-updates', arguments: {} });
  await untilReachable(async () => updated.length > 0);
  expect(updated[0]).toBe(uri);
  await client.close();
});
