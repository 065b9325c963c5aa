import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { Agent, buildConnector } from 'undici';
import { createToolUpstream, type ToolAnswer } from '../src/doors/mcp/tool-upstream.ts';
import { UpstreamServer } from '../src/doors/mcp/upstream-server.ts';
import { definitionHash } from '../src/registry/tool-definition.ts';

const none = () => undefined;
const log = { info: none, warn: none, error: none, debug: none, child: () => log };
const connect = buildConnector({});
/** The observed events, in order. */
const seen: string[] = [];
/** Keeps no connections, so that each call waits for a new one. */
const agent = new Agent({
  pipelining: 0,
  connect: (options, done) => {
    seen.push('connecting');
    connect(options, (...connected) => {
      seen.push('connected');
      done(...connected);
    });
  },
});
let notes: NoteServer;
let server: UpstreamServer;
beforeAll(async () => {
  notes = await startNoteServer();
  const config = { server_id: 'notes', transport: 'http', trust_annotations: true, url: notes.url, headers: {} };
  server = new UpstreamServer({
    ...{
      config,
      sandbox: null,
      reachesPrivate: true,
      scratchDir: '',
      account: null,
      outputBytesMax: 1_000_000,
      agent,
      log,
    },
    ...{
      callTimeoutMs: 5_000,
      listAgeMaxMs: 60_000,
      now: Date.now,
      clock: () => new Date(),
      onListed: async () => undefined,
    },
  } as never); // plain strings instead of branded ones
  await server.start();
});
afterAll(async () => {
  await server.close();
  await agent.destroy();
  await notes.close();
});

async function write(mayStillSend: () => Promise<boolean> | null): Promise<ToolAnswer> {
  const tool = (await server.tools()).find(({ name }) => name === 'write_note');
  const permit = {
    tool: 'notes.write_note',
    definitionHash: tool === undefined ? null : definitionHash(tool),
    mayStillSend,
    take: () => ({ args: { id: 'late', text: 'x' } }),
  };
  const located = { key: 'notes', serverId: 'notes', config: null, server, notConnected: null };
  const upstream = createToolUpstream({ servers: { find: () => located }, outputBytesMax: 1_000_000 });
  return await upstream(permit as never, { signal: AbortSignal.timeout(10_000) });
}

describe('a tool call that waits for a connection', () => {
  it('is checked again once connected, and is not sent if the check refuses it', async () => {
    await server.tools(); // lists tools now, so that the next connection is for the call
    seen.length = 0;
    const answering = (may: boolean) => () => {
      seen.push('asked');
      return Promise.resolve(may);
    };
    const before = notes.calls.length;
    const stopped = await write(answering(false));
    expect(stopped).toMatchObject({ outcome: 'failed' });
    expect(JSON.stringify(stopped.result)).toContain('The call was delayed and not sent');
    expect(seen).toEqual(['connecting', 'connected', 'asked']);
    expect(notes.calls.slice(before)).toEqual([]);
    expect(await write(answering(true))).toMatchObject({ outcome: 'completed' });
    expect(notes.calls.slice(before)).toHaveLength(1);
  });
});
