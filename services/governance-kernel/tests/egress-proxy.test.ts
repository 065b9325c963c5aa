import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type LookupFunction, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@countersign/testkit/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EgressProxy } from '../src/controls/sandbox/egress-proxy.ts';
import { connectedBy } from './_egress.ts';

describe('the egress proxy of a sandbox', () => {
  let folder: string;
  let echo: Server;
  let port: number;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'countersign-egress-'));
  });
  beforeEach(async () => {
    echo = createServer((socket) => socket.once('data', (data) => socket.end(`echo ${data.toString()}`)));
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    port = (echo.address() as AddressInfo).port; // the server listens on TCP
  });
  afterEach(() => void echo.close());
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('resolves a name once and connects to the address that it checked', async () => {
    const requests: string[] = [];
    const lookup: LookupFunction = (host, _options, found) => {
      requests.push(host);
      found(null, '127.0.0.1', 4);
    };
    const account = {
      take: () => Promise.resolve(true),
      isStopped: () => Promise.resolve(false),
      refuse: () => Promise.resolve(),
    };
    const proxy = await EgressProxy.open({
      destinations: [`pinned.example:${port}`],
      socketDir: folder,
      account,
      lookup,
    });
    expect(await connectedBy(proxy, `pinned.example:${port}`)).toContain('echo hello');
    expect(requests).toEqual(['pinned.example']);
    await proxy.close();
  });

  it('counts the bytes of a reset connection before another connection sends', async () => {
    const taken: number[] = [];
    const account = {
      take: (bytes: number) => Promise.resolve(taken.push(bytes) > 0),
      isStopped: () => Promise.resolve(false),
      refuse: () => Promise.resolve(),
    };
    let resets = 0;
    const silent = createServer((socket) =>
      socket.once('data', () => socket.resetAndDestroy()).on('error', () => resets++),
    );
    silent.on('connection', (socket) => socket.once('close', () => resets++));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const destination = `localhost:${(silent.address() as AddressInfo).port}`; // the server listens on TCP
    const lookup: LookupFunction = (_host, _options, found) => found(null, '127.0.0.1', 4);
    const proxy = await EgressProxy.open({ destinations: [destination], socketDir: folder, account, lookup });
    await connectedBy(proxy, destination).catch(() => undefined);
    await until(() => resets > 0);
    await connectedBy(proxy, destination).catch(() => undefined);
    expect(taken.slice(0, 2)).toEqual([0, 'hello'.length]);
    await proxy.close();
    silent.close();
  });
});
