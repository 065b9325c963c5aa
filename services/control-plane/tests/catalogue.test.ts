import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { isAppError } from '@countersign/contracts';
import { canonicalBytes, encodeBase64Url, parsePlainJson, utf8Bytes, utf8Text } from '@countersign/crypto';
import { readPublicKeys } from '@countersign/service-kit';
import { verifies } from '@countersign/testkit/verifies';
import { controlPlaneConfigFrom, shippedConnectors, signCatalogue } from '../src/index.ts';
import { readCatalogue, signedBytes, verifyCatalogue } from '../src/connectors/catalogue.ts';

const newSign = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const by = (bytes: Uint8Array) => new Uint8Array(sign(null, bytes, privateKey));
  return { by, publicKey: publicKey.export({ format: 'jwk' }).x ?? '' };
};
const key = newSign();
const dir = mkdtempSync(join(tmpdir(), 'countersign-catalogue-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const entry = (id: string, more: object = {}) => {
  const remotes = [{ type: 'streamable-http', url: 'https://mcp.example/mcp' }];
  const server_json = { name: `org.example/${id}`, version: '1.0.0', remotes, ...more };
  return { connector_id: id, title: 'Notes', summary: 'Keeps notes', server_json };
};
const signed = signCatalogue([entry('notes')], key.by);
const keys = readPublicKeys([key.publicKey]);
const { signature } = signed;

/** The refusal code of a catalogue file, or the connector ids in it. */
function verdict(bytes: Uint8Array, by = signature): unknown {
  try {
    return verifyCatalogue(bytes, { signature: by, keys }).map(({ connectorId }) => connectorId);
  } catch (error) {
    return isAppError(error) ? error.code : error;
  }
}

/** Reads a file with this text, signed by the pinned key. */
function vouched(text: string): unknown {
  const bytes = utf8Bytes(text);
  return verdict(bytes, encodeBase64Url(key.by(signedBytes(bytes))));
}
const canonical = (json: unknown) => utf8Text(canonicalBytes(parsePlainJson(json)));

describe('a catalogue of connectors', () => {
  verifies('cp.connector', 'is refused with any changed byte in the file, or with another signature', () => {
    expect(verdict(signed.catalogue)).toEqual(['notes']);
    for (let place = 0; place < signed.catalogue.length; place += 1) {
      const changed = Uint8Array.from(signed.catalogue);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect([place, verdict(changed)]).toEqual([place, 'INTEGRITY_FAILED']);
    }
    for (const second of [
      '',
      'x',
      signature.slice(1),
      `${signature}AA`,
      signCatalogue([entry('notes')], newSign().by).signature,
    ])
      expect(verdict(signed.catalogue, second)).toBe('INTEGRITY_FAILED');
  });

  it('is refused when a pinned key signed an invalid catalogue', () => {
    const text = utf8Text(signed.catalogue);
    const json = JSON.parse(text) as { connectors: Record<string, unknown>[] };
    expect(vouched(text)).toEqual(['notes']);
    expect(vouched(`${text}\n`)).toBe('INTEGRITY_FAILED');
    expect(vouched(canonical({ ...json, format: 'another' }))).toBe('INTEGRITY_FAILED');
    expect(vouched(canonical({ ...json, connectors: [...json.connectors, ...json.connectors] }))).toBe(
      'INTEGRITY_FAILED',
    );
    const [first] = json.connectors;
    const another = { ...first, server_json: entry('notes', { version: '2.0.0' }).server_json };
    expect(vouched(canonical({ ...json, connectors: [another] }))).toBe('INTEGRITY_FAILED');
    expect(vouched('{"connectors":[],"connectors":[]}')).toBe('INTEGRITY_FAILED');
  });

  it('contains only remote servers over streamable HTTP', () => {
    const local = { packages: [{ registryType: 'npm', identifier: 'x' }] };
    for (const remotes of [[], [{ type: 'sse', url: 'https://mcp.example/sse' }]])
      expect(() => signCatalogue([entry('notes', { remotes, ...local })], key.by)).toThrow('streamable HTTP');
    expect(() => signCatalogue([entry('mcp')], key.by)).toThrow('reserved');
  });

  it('is read from its file at each use, and cannot be configured without keys', async () => {
    const path = join(dir, 'connectors.json');
    const shipped = signCatalogue(shippedConnectors(), key.by);
    writeFileSync(path, shipped.catalogue);
    await expect(readCatalogue({ path, keys })).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
    writeFileSync(`${path}.sig`, `${shipped.signature}\n`);
    const names = (await readCatalogue({ path, keys })).map(({ connectorId }) => connectorId);
    expect(names).toEqual(['context7', 'github', 'microsoft-learn']);
    writeFileSync(path, signed.catalogue);
    await expect(readCatalogue({ path, keys })).rejects.toMatchObject({ code: 'INTEGRITY_FAILED' });
    expect(await readCatalogue(null)).toEqual([]);
    const env = {
      ...{ DATABASE_URL: 'postgres://localhost/x', GOV_GATEWAY_URL: 'http://g', GOV_GOVERNANCE_URL: 'http://k' },
      ...{ GOV_SERVICE_API_KEY: 'service-key-of-a-test', GOV_SESSION_SECRET: 'a-secret-of-this-test' },
    };
    expect(controlPlaneConfigFrom(env).catalogue).toBeNull();
    expect(() => controlPlaneConfigFrom({ ...env, GOV_CONNECTOR_CATALOGUE: path })).toThrow('GOV_CATALOGUE_KEYS');
  });
});
