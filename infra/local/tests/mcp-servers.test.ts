import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { services } from '@countersign/services';
import { openDataDir } from '../src/data-dir.ts';
import { withShippedServer } from '../src/mcp-servers.ts';
import { stdioUser } from '../src/stdio-account.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-shipped-'));
  chmodSync(folder, 0o711);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Document = { servers: { server_id: string }[]; mcpServers?: object };
const merged = (input: string | undefined) => JSON.parse(withShippedServer('/data', input)) as Document;
const mine = { mine: { command: 'npx' } };

describe('the shipped MCP server', () => {
  it("is added to the user's servers, in every accepted format", () => {
    expect(merged(undefined).servers.map(({ server_id: id }) => id)).toEqual(['files']);
    const own = { server_id: 'own', transport: 'stdio', command: 'x' };
    expect(merged(JSON.stringify({ servers: [own] })).servers.map(({ server_id: id }) => id)).toEqual(['files', 'own']);
    const file = join(folder, 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: mine }));
    for (const values of [file, JSON.stringify({ mcpServers: mine }), JSON.stringify({ servers: mine })])
      expect(merged(values)).toMatchObject({ servers: [{ server_id: 'files' }], mcpServers: mine });
  });

  it('is not added to a declaration that the kernel has to refuse', () => {
    for (const values of ['{"mcpServers":', '/no/such/file.json', '{"servers":{},"mcpServers":{}}', '[]'])
      expect(withShippedServer('/data', values)).toBe(values);
    expect(merged('{"servers":[],"inputs":[]}')).toHaveProperty('inputs');
  });
});

const isRoot = process.getuid?.() === 0;
const where = isRoot ? '' : ' (SKIPPED: needs root)';

describe('the secrets of an installation', () => {
  it('get a password for a new service, once', () => {
    const path = join(folder, 'older');
    const open = () => openDataDir(path, { adminApiKey: null, serviceApiKey: null });
    const { databasePasswords } = open();
    const file = join(path, 'secrets.json');
    const { controlPlaneDatabasePassword: _, ...older } = JSON.parse(readFileSync(file, 'utf8')) as Record<
      string,
      string
    >; // the program wrote it
    writeFileSync(file, JSON.stringify(older), { mode: 0o600 });
    const added = open().databasePasswords;
    expect(added).toEqual({ ...databasePasswords, 'control-plane': expect.stringMatching(/^db_.{43}$/) });
    expect(added['control-plane']).not.toBe(databasePasswords['control-plane']);
    expect(open().databasePasswords).toEqual(added);
    writeFileSync(file, JSON.stringify({ ...older, adminApiKey: undefined }), { mode: 0o600 });
    expect(open).toThrow('cannot be read as the secrets of this installation');
  });

  it('become private again after other accounts could read them', () => {
    const path = join(folder, 'installation');
    const names = ['adminApiKey', 'serviceApiKey', 'sessionSecret', 'consoleSecret', 'tenantSaltSecret'];
    const passwords = services.map(({ schema }) => `${schema.replace('_p', 'P')}DatabasePassword`);
    const privateKeyPem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const evidenceKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const kept = {
      evidenceKey: evidenceKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      ...Object.fromEntries([...names, ...passwords].map((name) => [name, `kept ${name}`])),
      ...{ signingKey: privateKeyPem, policyKey: privateKeyPem, logKey: privateKeyPem },
    };
    mkdirSync(path);
    writeFileSync(join(path, 'secrets.json'), JSON.stringify(kept), { mode: 0o644 });
    expect(openDataDir(path, { adminApiKey: null, serviceApiKey: null }).secrets).toEqual(kept);
    expect(lstatSync(join(path, 'secrets.json')).mode & 0o777).toBe(0o600);
  });
});

describe('the user of MCP servers over stdio', () => {
  (isRoot ? it : it.skip)(`owns the folder of the shipped server, and nothing else${where}`, () => {
    const files = join(folder, 'files');
    mkdirSync(join(files, 'deep'), { recursive: true, mode: 0o700 });
    const secrets = join(folder, 'secrets.json');
    writeFileSync(secrets, 'x', { mode: 0o600 });
    writeFileSync(join(files, 'deep', 'kept.txt'), 'x', { mode: 0o600 });
    symlinkSync(secrets, join(files, 'link'));
    expect(stdioUser(files, '4711:4712')).toBe('4711:4712');
    for (const values of [files, join(files, 'deep'), join(files, 'deep', 'kept.txt'), join(files, 'link')])
      expect(lstatSync(values)).toMatchObject({ uid: 4_711, gid: 4_712 });
    expect(lstatSync(secrets)).toMatchObject({ uid: 0, gid: 0 });
  });

  (isRoot ? it : it.skip)(
    `is by default root when no other account can reach the folder of the shipped server${where}`,
    () => {
      const shut = join(folder, 'shut');
      mkdirSync(join(shut, 'files'), { recursive: true, mode: 0o700 });
      expect(stdioUser(join(shut, 'files'), undefined)).toBe('0:0');
      expect(stdioUser(join(shut, 'files'), '4711:4712')).toBe('4711:4712');
      expect(lstatSync(join(shut, 'files')).uid).toBe(0);
    },
  );
});
