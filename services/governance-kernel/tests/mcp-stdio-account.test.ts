import { copyFile, mkdtemp, rm, writeFile, chmod, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '@countersign/service-kit';
import { generateSigningKey } from '@countersign/crypto/signing';
import { kernelConfigFrom } from '../src/index.ts';
import { findStdioAccount } from '../src/controls/sandbox/stdio-account.ts';
import { newSession } from './_caller.ts';
import { startUpstreams } from './_upstreams.ts';

const account = findStdioAccount(undefined);
/** Part of the name of the test, so that the results show which test was skipped. */
const where = account === null ? ' (SKIPPED: needs root and setpriv)' : '';
const onlyThere = account === null ? it.skip : it;
const kernelsOwn = `${process.getuid?.()}:${process.getgid?.()}`;
const apart = '65534:65534';

let folder: string;
let server: string;
let keyFile: string;
let dataDir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-hostile-'));
  await chmod(folder, 0o755);
  server = join(folder, 'server.mjs');
  keyFile = join(folder, 'signing-key.pem');
  dataDir = join(folder, 'data');
  await copyFile(fileURLToPath(new URL('_hostile-server.mjs', import.meta.url)), server);
  await chmod(server, 0o644);
  await writeFile(keyFile, generateSigningKey().privateKeyPem, { mode: 0o600 });
  await mkdir(dataDir, { mode: 0o700 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const hostile = () => ({
  server_id: 'hostile',
  trust_annotations: true,
  transport: 'stdio',
  command: process.execPath,
  args: [server, keyFile, dataDir],
});

type Report = { succeeded: string[]; uid: string; gid: string; groups: string; capabilities: string; home: string[] };

/** Runs a hostile server as this user. Returns the attacks that succeeded, and the log of the kernel. */
async function attacked(user: string): Promise<{ report: Report; text: string }> {
  let text = '';
  const stream = new PassThrough().on('data', (line: Buffer) => (text += line.toString()));
  const log = createLogger({ service: 'test', level: 'info', layout: 'json', stream });
  const { test, close } = await startUpstreams({ GOV_MCP_STDIO_USER: user }, [hostile()], { log });
  try {
    const body = { tool: 'hostile.attack', args: {}, session_id: newSession() } as never; // unbranded strings
    const { result } = (await test.as('acme').executeMcp({ body })).body;
    const { content } = result as unknown as { content: { text: string }[] };
    return { report: JSON.parse(content[0]?.text ?? '') as Report, text };
  } finally {
    await close();
  }
}

describe('an MCP server over stdio', () => {
  onlyThere(`runs under its own account and has no access to the kernel${where}`, async () => {
    const { report, text } = await attacked(apart);
    expect(report).toEqual({
      succeeded: [],
      uid: '65534 65534 65534 65534',
      gid: '65534 65534 65534 65534',
      groups: '',
      capabilities: '0000000000000000',
      home: [],
    });
    expect(text).toContain('mcp_stdio.runs_apart');
  });

  onlyThere(`has full access under the account of the kernel, which logs a warning${where}`, async () => {
    const { report, text } = await attacked(kernelsOwn);
    expect(report.succeeded).toEqual(
      expect.arrayContaining(['environment', 'memory', 'descriptors', 'keyFile', 'dataFolder', 'signal']),
    );
    expect(text).toContain('mcp_stdio.runs_as_kernel');
  });
});

describe('the configuration of servers over stdio', () => {
  const secrets = Object.fromEntries(
    ['ADMIN_API_KEY', 'SERVICE_API_KEY', 'POLICY_KEY', 'LOG_KEY', 'TENANT_SALT_SECRET'].map((name, nth) => [
      `GOV_${name}`,
      `k${nth}-${'9f2c7a1e'.repeat(5)}`,
    ]),
  );
  const configured = (change: Record<string, string>) =>
    kernelConfigFrom({
      ...{
        NODE_ENV: 'production',
        GOV_LOG_ORIGIN: 'example.org/log',
        DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
        ...secrets,
      },
      GOV_SIGNING_KEY_FILE: keyFile,
      GOV_MCP_SERVERS: JSON.stringify({ servers: [hostile()] }),
      ...change,
    });

  onlyThere(`is accepted in production only if the servers have their own account${where}`, () => {
    expect(configured({}).stdioAccount).toEqual({ uid: 65_534, gid: 65_534 });
    expect(configured({ GOV_MCP_STDIO_USER: '4711:4712' }).stdioAccount).toEqual({ uid: 4_711, gid: 4_712 });
    expect(() => configured({ GOV_MCP_STDIO_USER: kernelsOwn })).toThrow('names hostile over stdio');
  });

  onlyThere(`is rejected if the account of the servers can read a secret of the kernel${where}`, async () => {
    await chmod(keyFile, 0o644);
    // In production, a file that others can read is rejected whatever the account is.
    const lenient = { NODE_ENV: 'development' };
    expect(() => configured(lenient)).toThrow(/^.*GOV_SIGNING_KEY_FILE: the file can be read by the user 65534:65534/s);
    expect(() => configured({})).toThrow('GOV_SIGNING_KEY_FILE names a file that others can read');
    await chmod(keyFile, 0o600);
    const file = join(folder, 'servers.json');
    await writeFile(file, JSON.stringify({ servers: [hostile()] }), { mode: 0o644 });
    expect(() => configured({ GOV_MCP_SERVERS: file })).toThrow('GOV_MCP_SERVERS: the file can be read');
  });

  it('accepts only a numeric user and group', () => {
    for (const user of ['nobody', '65534', '65534:nogroup', '-1:0'])
      expect(() => configured({ GOV_MCP_STDIO_USER: user })).toThrow('GOV_MCP_STDIO_USER');
  });
});
