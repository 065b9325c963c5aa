import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { asAdministrator } from './_administrator.ts';
import { adminKey, starterPolicy, startTestKernel } from './_kernel.ts';
import { judged, rotateKeys, wholePeriod } from './_revoked.ts';
import { newSession, seal } from './_seal.ts';

const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
const [, steps = ''] = page.split('## Revoke a key\n');
const [, program = ''] = /node --eval '([^']+)'/.exec(steps) ?? [];
const [, statement = ''] = /<<'SQL'\n([^]+?)\n *SQL\n/.exec(steps) ?? [];

/** Runs the command of the page with the URL and the secret of this test. */
async function signHead(url: string): Promise<string> {
  const secret = join(tmpdir(), `admin-api-key-${process.pid}`);
  writeFileSync(secret, `${adminKey}\n`, { mode: 0o600 });
  const here = program.replace('/run/secrets/admin_api_key', secret).replace('http://kernel:8080', url);
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', here]);
  rmSync(secret);
  return stdout;
}

describe('the steps of docs/operations.md to revoke a key', () => {
  it('keep everything that the key has sealed provable, whatever was sealed last', async () => {
    const test = await startTestKernel({ env: { GOV_CHECKPOINT_INTERVAL: '1h' } });
    await test.activate('acme', starterPolicy);
    const session_id = newSession();
    await test.kernel.context.checkpoints.create();
    await seal(test, { session_id });
    const [key] = await rotateKeys(test, ['receipts']);
    expect(await signHead(test.kernel.url)).toMatch(/^201 \{"checkpoint_id"/);
    await asAdministrator(test, statement.replace(":'key'", '$1'), [key]);
    const keys = (await test.as('acme').listTrustKeys()).body.keys;
    expect(keys.find(({ kid }) => kid === key)?.revoked_at).not.toBeNull();
    expect(keys.filter(({ revoked_at }) => revoked_at !== null)).toHaveLength(1);
    await seal(test, { session_id });
    expect(await judged(test, { session_id })).toBe('VERIFIED');
    expect(await judged(test, wholePeriod())).toBe('VERIFIED');
    await test.close();
  });
});
