import { afterAll, beforeAll, expect } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import { readText } from '../architecture/repository.ts';
import { Reading } from './_reading.ts';
import { Walk } from './_walk.ts';

let reading: Reading;

beforeAll(async () => {
  reading = await Reading.begin(new Walk('docs/quickstart.md', readText('docs/quickstart.md')), 'pick()');
});
afterAll(() => reading.end());

describeStory('two people and an agent, with curl', () => {
  verifies(
    'gw.invite',
    'one person signs in and invites, and the other proves the invited address and joins',
    async () => {
      expect(await reading.typed('ada@example.org')).toEqual(['ada@example.org']);
      expect(await reading.typed('inviteToken')).toEqual(['partner']);
    },
  );

  verifies(
    'gw.approvals',
    'one person starts the run and may not approve it, the other approves, and the agent continues',
    async () => {
      await reading.typed('TASK=');
      await reading.repeated('pick status', 'awaiting_approval');
      expect(await reading.typed('error.message')).toEqual([
        'You started this run or made this key, so another partner or owner decides',
      ]);
      const [shown, status] = await reading.typed('bob -X PUT');
      expect([shown, status]).toEqual([expect.stringContaining('letter.md'), 'approved']);
      expect(await reading.repeated('letter.md', 'completed')).toEqual(['completed', 'Dear customer']);
    },
  );

  verifies(
    'gw.governance',
    "the steps, the receipts of the run and of the day, and the workspace's log are proven offline",
    async () => {
      const lines = await reading.typed('steps.map');
      expect(lines).toEqual(['model_call ALLOW', 'tool_call ALLOW', 'model_call ALLOW', 'true']);
      const proven = await reading.typed('run.ndjson');
      expect(proven[0]).toMatch(/^VERIFIED: \d+ receipts/);
      expect(proven).toContainEqual(expect.stringMatching(/^VERIFIED: \d+ entries$/));
      const [verdict = '', ...rest] = await reading.typed('today.ndjson');
      expect(verdict).toMatch(/^VERIFIED: [1-9]\d* receipts/);
      expect(rest).toContainEqual(expect.stringMatching(/^ {2}period {8}wsp_/));
      expect(reading.walk.left).toEqual([]);
    },
  );
});
