import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createWebhookPost } from '@countersign/delivery';
import { isPublicAddress, lookupPublic } from '../src/public-address.ts';

let reached = 0;
const server = createServer((_req, res) => {
  reached += 1;
  res.writeHead(302, { location: '/elsewhere' }).end();
});
let port: number;
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  port = (server.address() as AddressInfo).port; // a TCP server has this kind of address
});
afterAll(() => void server.close());

const secrets = [`whsec_${Buffer.alloc(32).toString('base64')}`];
const message = (url: string) => ({ id: 'ntf_1', url, body: '{}', secrets, now: new Date() });
const signal = new AbortController().signal;

describe('the target of a webhook', () => {
  it.each(['1.1.1.1', '8.8.8.8', '93.184.215.14', '2606:4700:4700::1111', '2a00:1450::1'])('can be %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ...[
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '168.63.129.16',
      '127.0.0.1',
      '127.255.255.255',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ...['192.168.1.1', '192.0.2.1', '198.18.0.1', '203.0.113.9', '224.0.0.1', '255.255.255.255', '240.0.0.1'],
    ...[
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
      'fe80::1',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '64:ff9b::7f00:1',
    ],
    ...['2001:db8::1', '2002:7f00:1::', '2001::1', '3fff::1', 'not an address', ''],
  ])('cannot be %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('is checked before a connection is opened, and again by the connection', async () => {
    const post = createWebhookPost();
    const reachedBefore = reached;
    const refused = async (url: string) => (await post(message(url), signal)) as { kind: string; error?: string };
    for (const [url, error] of [
      [`http://127.0.0.1:${port}/`, 'the URL of a webhook must use https'],
      [`https://127.0.0.1:${port}/`, 'the address is not public'],
      [`https://[::1]:${port}/`, 'the address is not public'],
      // Spellings of 127.0.0.1 that the URL parser normalises.
      [`https://2130706433:${port}/`, 'the address is not public'],
      [`https://0x7f.1:${port}/`, 'the address is not public'],
      [`https://localhost:${port}/`, 'The name leads to an address that is not public'],
    ] as const)
      expect([url, await refused(url)]).toEqual([url, { kind: 'failed', error }]);
    expect(reached).toBe(reachedBefore);
  });

  it('is refused when one of several addresses is private', async () => {
    const looked = await new Promise((resolve) => {
      lookupPublic('localhost', { all: true }, (error) => resolve(error));
    });
    expect(looked).toMatchObject({ name: 'PrivateAddress' });
  });

  it('is never reached through a redirect', async () => {
    const post = createWebhookPost({ reachesPrivate: true });
    const outcome = await post(message(`http://127.0.0.1:${port}/`), signal);
    expect(outcome).toEqual({ kind: 'failed', error: 'status 302: redirects are not followed' });
    expect(reached).toBe(1);
  });
});
