import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { readText } from '../architecture/repository.ts';
import { Person } from './_person.ts';
import { Reading } from './_reading.ts';
import { answersIn, Walk } from './_walk.ts';

let reading: Reading;
let origin: string;
let alice: Person;

beforeAll(async () => {
  reading = await Reading.begin(new Walk('docs/how-to/approve.md', readText('docs/how-to/approve.md')), 'alias agent');
  origin = `http://localhost:${reading.kernelPort}`;
});
afterAll(() => reading.end());

describeStory('the how-to on approvals, executed block by block', () => {
  verifies('kn.approve.loop', 'a person approves on the page, and the call is allowed once', async () => {
    const block = reading.walk.blockWith('ask mail.send page');
    const [request, made] = answersIn(await reading.second.type(block)) as [
      { approval: { approve_url: string } },
      { key: string },
    ];
    expect(request.approval.approve_url).toMatch(new RegExp(`^${origin}/approvals/apr_`));
    alice = new Person(origin, made.key);
    expect((await alice.decide(request.approval.approve_url, { decision: 'approve' })).text).toContain('approved');
    expect(await reading.typed('ask mail.send page')).toEqual(['ALLOW']);
  });

  verifies(
    'kn.approve.quorum',
    'people approve by the API, two of them where a rule requires two, and a time lock delays the call',
    async () => {
      expect(await reading.typed('known customer')).toEqual(['approved', 'ALLOW']);
      await reading.typed('two-people');
      await untilAnswered(() => Promise.resolve(/^Policy activated: .* epoch 2, /m.test(reading.first.printed())));
      const [state, url = ''] = await reading.typed('as agreed');
      expect(state).toBe('pending');
      expect((await alice.decide(url, { decision: 'approve' })).text).toContain('approved');
      expect(await reading.typed('sleep 5')).toEqual([
        expect.stringMatching(/^The time lock of the approval ends at \d{4}-.*Z\. Repeat the same call then\.$/),
        'ALLOW',
      ]);
    },
  );

  verifies('kn.approve.loop', 'an approval is revoked, and the agent reads the reason', async () => {
    const refused = 'The approval was refused or withdrawn: the customer left';
    expect(await reading.typed('revoke')).toEqual(['approved', 'revoked', refused]);
  });

  verifies('kn.approve.quorum', 'one person breaks the glass, and the receipt remains', async () => {
    const [isOn, url = ''] = await reading.typed('approval-terms');
    expect(isOn).toBe('true');
    const filled = { decision: 'break_glass', reason: 'the plant is on fire' };
    expect((await alice.decide(url, filled)).text).toContain('the plant is on fire');
    expect(await reading.typed('kind=break_glass')).toEqual(['ALLOW', 'alice']);
  });

  verifies(
    'kn.approve.webauthn',
    'only a passkey decides, a second passkey is vouched for, and the votes verify offline',
    async () => {
      const [query] = answersIn(await reading.second.type('ask mail.send other')) as [
        { approval: { approve_url: string } },
      ];
      const { approve_url: second } = query.approval;
      await alice.enrol(second);
      expect(await reading.typed('as before')).toEqual(['PASSKEY_REQUIRED', 'PASSKEY_REQUIRED']);
      await alice.approve(`${origin}/approvals/${await reading.second.type('echo $ID')}`);
      const made = await reading.second.type(
        `operator $KERNEL_URL/api/v1/access-keys -d '{"kind":"approver","principal_id":"bob"}'`,
      );
      const [{ key }] = answersIn(made) as [{ key: string }];
      const bob = new Person(origin, key);
      await bob.enrol(second);
      const [page = ''] = await reading.typed('echo http');
      await alice.vouch(page);
      await bob.approve(second);
      const [verdict = '', ...lines] = await reading.typed('cli.js');
      expect([verdict, lines.join('\n')]).toEqual([
        expect.stringMatching(/^VERIFIED: /),
        expect.stringContaining('signer        TRUSTED'),
      ]);
    },
  );

  it('these tests have typed every command of the document', () => {
    expect(reading.walk.left).toEqual([]);
  });
});
