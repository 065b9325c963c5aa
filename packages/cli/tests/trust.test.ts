import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SignedTrustList } from '@countersign/contracts/governance-kernel';
import { keyIdOf, publicKeyToJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { generateSigningKey } from '@countersign/crypto/signing';
import { verifies } from '@countersign/testkit/verifies';
import { runCountersign } from '../src/index.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-trust-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const at = (name: string) => join(dir, name);
const list = () => (JSON.parse(readFileSync(at('trust.json'), 'utf8')) as SignedTrustList).list; // the command wrote it

async function run(...argv: string[]) {
  const [out, report]: [string[], string[]] = [[], []];
  const status = await runCountersign(['trust', ...argv], {
    write: (words) => void out.push(words),
    tell: (words) => void report.push(words),
    env: {},
    stdin: (async function* () {
      // The standard input is empty.
    })(),
    signal: new AbortController().signal,
  });
  return { status, out: out.join('').trim(), told: report.join('') };
}

const sign = (command: string, ...argv: string[]) =>
  run(command, ...argv, '--root-key', at('root.pem'), '--file', at('trust.json'));

async function init() {
  const { publicKey, keyId } = generateSigningKey();
  const key = {
    ...publicKeyToJwk(publicKey),
    ...{ kid: keyId, use: 'sig', alg: 'EdDSA', purpose: 'receipts', log_origin: null },
    ...{ valid_from: '2026-01-01T00:00:00.000Z', valid_until: null, revoked_at: null },
  };
  writeFileSync(at('keys.json'), JSON.stringify({ keys: [key], log_origin: 'x', log_vkey: 'y' }));
  const { status, out, told } = await sign('init', '--keys', at('keys.json'));
  expect([status, told]).toEqual([0, `version 1: ${at('trust.json')}\n`]);
  return { root: out, keyId };
}

/** A new public key whose text is suitable. One in 64 keys begins with a dash. */
function newKey(isSuitable: (text: string) => boolean): string {
  for (;;) {
    const { x } = publicKeyToJwk(generateSigningKey().publicKey);
    if (isSuitable(x)) return x;
  }
}

function evidenceKey(valid_from: string) {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  return {
    ...{ kty: 'EC', crv: 'P-256', x, y, alg: 'ES256', use: 'sig', purpose: 'evidence', log_origin: null },
    ...{ kid: keyIdOf(nodeProvider, publicKey.export({ format: 'der', type: 'spki' })) },
    ...{ valid_from, valid_until: null, revoked_at: null },
  };
}

describe('countersign trust', () => {
  verifies('kn.trust', 'signs a list, rotates a key and revokes its predecessor without a network', async () => {
    const { root, keyId } = await init();
    expect(statSync(at('root.pem')).mode & 0o077).toBe(0);
    const rotated = await sign('rotate', '--purpose', 'receipts', '--new-key', at('new.pem'));
    expect(rotated).toMatchObject({ status: 0, out: expect.stringMatching(/^key_[0-9a-f]{16}$/) });
    const [old, added] = list().keys;
    expect([old?.kid, added?.kid]).toEqual([keyId, rotated.out]);
    expect(Date.parse(old?.valid_until ?? '') - Date.parse(added?.valid_from ?? '')).toBe(80_000);
    expect(statSync(at('new.pem')).mode & 0o077).toBe(0);
    expect((await sign('revoke', keyId, '--at', '2026-02-01T00:00:00.000Z')).status).toBe(0);
    const { status, out, told } = await run('ls', '--file', at('trust.json'), '--root', root);
    expect([status, told]).toEqual([0, expect.stringMatching(/^version 3, /)]);
    expect(out).toContain('2026-02-01T00:00:00.000Z');
  });

  verifies('kn.trust', 'adds the evidence keys of an installation, ends replaced ones and revokes one', async () => {
    const { root } = await init();
    const first = evidenceKey('2025-12-01T00:00:00.000Z');
    const file = (...keys: object[]) => writeFileSync(at('evidence.json'), JSON.stringify({ keys }));
    file(first);
    expect(await sign('add-evidence', at('evidence.json'))).toMatchObject({ status: 0, out: first.kid });
    expect((await sign('add-evidence', at('evidence.json'))).status).toBe(1);
    const second = evidenceKey('2026-01-01T00:00:00.000Z');
    file(first, second);
    expect(await sign('add-evidence', at('evidence.json'))).toMatchObject({ status: 0, out: second.kid });
    const [, ended, current] = list().keys;
    expect(ended?.valid_from).toBe('2025-12-01T00:00:00.000Z');
    expect(Date.parse(ended?.valid_until ?? '') - Date.parse(current?.valid_from ?? '')).toBe(80_000);
    expect((await sign('revoke', first.kid, '--at', '2026-02-01T00:00:00.000Z')).status).toBe(0);
    const { out } = await run('ls', '--file', at('trust.json'), '--root', root);
    expect(out).toMatch(new RegExp(`${first.kid} +evidence .*2026-02-01T00:00:00.000Z`));
    writeFileSync(at('evidence.json'), '{}');
    expect((await sign('add-evidence', at('evidence.json'))).status).toBe(2);
  });

  it('signs no list that readers would refuse', async () => {
    const { root, keyId } = await init();
    await sign('revoke', keyId, '--at', '2026-02-01T00:00:00.000Z');
    const later = await sign('revoke', keyId, '--at', '2026-03-01T00:00:00.000Z');
    expect(later).toMatchObject({ status: 1, told: expect.stringContaining('later revocation') });
    const dated = await sign(
      'rotate',
      '--purpose',
      'receipts',
      '--new-key',
      at('new.pem'),
      '--from',
      '2026-01-02T00:00:00.000Z',
    );
    expect(dated).toMatchObject({ status: 1, told: expect.stringContaining('begins before its list') });
    expect((await sign('revoke', 'key_0000000000000000')).status).toBe(1);
    expect(list().version).toBe(2);
    const stranger = `${root.startsWith('A') ? 'B' : 'A'}${root.slice(1)}`;
    expect((await run('ls', '--file', at('trust.json'), '--root', stranger)).status).toBe(1);
  });

  it('overwrites no file, and accepts no other root key', async () => {
    await init();
    expect((await sign('init', '--keys', at('keys.json'))).status).toBe(2);
    writeFileSync(at('new.pem'), '');
    expect((await sign('rotate', '--purpose', 'receipts', '--new-key', at('new.pem'))).status).toBe(2);
    writeFileSync(at('root.pem'), generateSigningKey().privateKeyPem);
    for (const key of [newKey((text) => !text.startsWith('-')), newKey((text) => text.startsWith('-'))])
      expect(await sign('add', key, '--purpose', 'receipts')).toMatchObject({
        status: 1,
        told: expect.stringContaining('the root is'),
      });
    expect((await run('publish', '--file', at('trust.json'))).told).toContain('COUNTERSIGN_ADMIN_KEY is not set');
  });
});
