import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { readText, root } from '../architecture/repository.ts';
import { freePorts } from './_ports.ts';
import { Person } from './_person.ts';
import { until } from './_system.ts';
import { freshEnvironment, openTerminal, typeInForeground, type Foreground, type Terminal } from './_terminal.ts';
import { answersIn, Walk } from './_walk.ts';

const startMs = 120_000;
const stepMs = 60_000;
const cwd = mkdtempSync(join(tmpdir(), 'countersign-approve-'));
const walk = new Walk('docs/how-to/approve.md', readText('docs/how-to/approve.md'));
let origin: string;
let first: Foreground;
let second: Terminal;
let alice: Person;

beforeAll(async () => {
  chmodSync(cwd, 0o711); // PostgreSQL runs under its own account when we are root, and must pass through
  for (const folder of ['packages', 'infra']) symlinkSync(join(root, folder), join(cwd, folder));
  const chosen = await freePorts();
  const place = { cwd, env: { ...freshEnvironment, ...chosen } };
  origin = `http://localhost:${chosen.GOV_PORT}`;
  first = await typeInForeground(walk.blockWith('make up'), place);
  second = openTerminal(place);
  await second.type(walk.blockWith('alias agent'));
}, startMs);
afterAll(async () => {
  second.close();
  await first.interrupt();
  rmSync(cwd, { recursive: true, force: true });
}, startMs);

const typed = async (words: string): Promise<string[]> =>
  (await second.type(walk.blockWith(words))).split('\n').filter((line) => line !== '');

describe('the how-to on approving, typed block by block', () => {
  verifies(
    'kn.approve.loop',
    'a person approves on the page, and the call is allowed once',
    async () => {
      const block = walk.blockWith('ask mail.send page');
      const [asked, made] = answersIn(await second.type(block)) as [
        { approval: { approve_url: string } },
        { key: string },
      ];
      expect(asked.approval.approve_url).toMatch(new RegExp(`^${origin}/approvals/apr_`));
      alice = new Person(origin, made.key);
      expect((await alice.decide(asked.approval.approve_url, { decision: 'approve' })).text).toContain('approved');
      expect(await typed('ask mail.send page')).toEqual(['ALLOW']);
    },
    stepMs,
  );

  verifies(
    'kn.approve.quorum',
    'people approve by the API, two of them where a rule wants two, and the call waits for its moment',
    async () => {
      expect(await typed('known customer')).toEqual(['approved', 'ALLOW']);
      await typed('two-people');
      await until(() => Promise.resolve(/^Policy taken over: .* epoch 2, /m.test(first.printed())));
      expect(await typed('wire.send two')).toEqual([
        'pending',
        'approved',
        expect.stringMatching(/^The approval was given, and may be used from \d{4}-.*Z on\.$/),
        'ALLOW',
      ]);
    },
    stepMs,
  );

  verifies(
    'kn.approve.loop',
    'an approval is taken back, and the agent reads why',
    async () => {
      const refused = 'The approval was refused or withdrawn: the customer left';
      expect(await typed('revoke')).toEqual(['approved', 'revoked', refused]);
    },
    stepMs,
  );

  verifies(
    'kn.approve.quorum',
    'one person breaks the glass, which is never forgotten',
    async () => {
      const [isOn, url = ''] = await typed('approval-terms');
      expect(isOn).toBe('true');
      const filled = { decision: 'break_glass', reason: 'the plant is on fire' };
      expect((await alice.decide(url, filled)).text).toContain('the plant is on fire');
      expect(await typed('kind=break_glass')).toEqual(['ALLOW', 'alice']);
    },
    stepMs,
  );

  verifies(
    'kn.approve.webauthn',
    'a passkey decides and nothing else does, a second one is vouched for, and the votes verify offline',
    async () => {
      const [asked] = answersIn(await second.type('ask mail.send other')) as [{ approval: { approve_url: string } }];
      const { approve_url: other } = asked.approval;
      await alice.enrol(other);
      expect(await typed('as before')).toEqual(['PASSKEY_REQUIRED', 'PASSKEY_REQUIRED']);
      await alice.approve(`${origin}/approvals/${await second.type('echo $ID')}`);
      const made = await second.type(
        `operator $KERNEL_URL/api/v1/access-keys -d '{"kind":"approver","principal_id":"bob"}'`,
      );
      const [{ key }] = answersIn(made) as [{ key: string }];
      const bob = new Person(origin, key);
      await bob.enrol(other);
      const [page = ''] = await typed('echo http');
      await alice.vouch(page);
      await bob.approve(other);
      const [verdict = '', ...lines] = await typed('cli.js');
      expect([verdict, lines.join('\n')]).toEqual([
        expect.stringMatching(/^VERIFIED: /),
        expect.stringContaining('signer        TRUSTED'),
      ]);
    },
    stepMs,
  );

  it('holds no command that was not typed here', () => {
    expect(walk.left).toEqual([]);
  });
});
