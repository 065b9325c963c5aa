import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { readText } from '../architecture/repository.ts';
import { Person } from './_person.ts';
import { Reading } from './_reading.ts';
import { answersIn, Walk } from './_walk.ts';

const startMs = 120_000;
const stepMs = 60_000;
let reading: Reading;
let origin: string;
let alice: Person;

beforeAll(async () => {
  reading = await Reading.begin(new Walk('docs/how-to/approve.md', readText('docs/how-to/approve.md')), 'alias agent');
  origin = `http://localhost:${reading.kernelPort}`;
}, startMs);
afterAll(() => reading.end(), startMs);

describeStory('the how-to on approving, typed block by block', () => {
  verifies(
    'kn.approve.loop',
    'a person approves on the page, and the call is allowed once',
    async () => {
      const block = reading.walk.blockWith('ask mail.send page');
      const [asked, made] = answersIn(await reading.second.type(block)) as [
        { approval: { approve_url: string } },
        { key: string },
      ];
      expect(asked.approval.approve_url).toMatch(new RegExp(`^${origin}/approvals/apr_`));
      alice = new Person(origin, made.key);
      expect((await alice.decide(asked.approval.approve_url, { decision: 'approve' })).text).toContain('approved');
      expect(await reading.typed('ask mail.send page')).toEqual(['ALLOW']);
    },
    stepMs,
  );

  verifies(
    'kn.approve.quorum',
    'people approve by the API, two of them where a rule wants two, and the call waits for its moment',
    async () => {
      expect(await reading.typed('known customer')).toEqual(['approved', 'ALLOW']);
      await reading.typed('two-people');
      await untilAnswered(() => Promise.resolve(/^Policy taken over: .* epoch 2, /m.test(reading.first.printed())));
      const [state, url = ''] = await reading.typed('as agreed');
      expect(state).toBe('pending');
      expect((await alice.decide(url, { decision: 'approve' })).text).toContain('approved');
      expect(await reading.typed('sleep 5')).toEqual([
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
      expect(await reading.typed('revoke')).toEqual(['approved', 'revoked', refused]);
    },
    stepMs,
  );

  verifies(
    'kn.approve.quorum',
    'one person breaks the glass, which is never forgotten',
    async () => {
      const [isOn, url = ''] = await reading.typed('approval-terms');
      expect(isOn).toBe('true');
      const filled = { decision: 'break_glass', reason: 'the plant is on fire' };
      expect((await alice.decide(url, filled)).text).toContain('the plant is on fire');
      expect(await reading.typed('kind=break_glass')).toEqual(['ALLOW', 'alice']);
    },
    stepMs,
  );

  verifies(
    'kn.approve.webauthn',
    'a passkey decides and nothing else does, a second one is vouched for, and the votes verify offline',
    async () => {
      const [asked] = answersIn(await reading.second.type('ask mail.send other')) as [
        { approval: { approve_url: string } },
      ];
      const { approve_url: other } = asked.approval;
      await alice.enrol(other);
      expect(await reading.typed('as before')).toEqual(['PASSKEY_REQUIRED', 'PASSKEY_REQUIRED']);
      await alice.approve(`${origin}/approvals/${await reading.second.type('echo $ID')}`);
      const made = await reading.second.type(
        `operator $KERNEL_URL/api/v1/access-keys -d '{"kind":"approver","principal_id":"bob"}'`,
      );
      const [{ key }] = answersIn(made) as [{ key: string }];
      const bob = new Person(origin, key);
      await bob.enrol(other);
      const [page = ''] = await reading.typed('echo http');
      await alice.vouch(page);
      await bob.approve(other);
      const [verdict = '', ...lines] = await reading.typed('cli.js');
      expect([verdict, lines.join('\n')]).toEqual([
        expect.stringMatching(/^VERIFIED: /),
        expect.stringContaining('signer        TRUSTED'),
      ]);
    },
    stepMs,
  );

  it('holds no command that was not typed here', () => {
    expect(reading.walk.left).toEqual([]);
  });
});
