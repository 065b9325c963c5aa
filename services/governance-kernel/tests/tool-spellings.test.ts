import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { Caller, newSession, refusal, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { receiptsOf } from './_upstreams.ts';

const policy = `
format: countersign/policy.v1
name: spellings
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call] } }
  - { id: no-shell, effect: deny, match: { tool: [shell.exec, Root.Shell] } }
  - { id: no-deletion, effect: deny, match: { tool: ['*.delete'] } }
  - { id: payments, effect: escalate, match: { tool: [pay__send] } }
`;
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', policy);
});
afterAll(() => test.close());

const reportOf = async (tool: string) => answerOf(await new Caller(test).decide({ tool, effect_level: 'E1' }));

describe("the spelling of a caller's own tool", () => {
  const looksRestricted = [
    ...[
      'shell__exec',
      'Shell.exec',
      'shell.exec\u200d',
      'ｓhell.exec',
      'shell.\u06ddexec',
      'root.shell',
      'root_\u2060_shell',
    ],
    ...['files__delete', 'files.Delete', 'FILES__DELETE', 'pay.send', 'Pay__send'],
  ];
  verifies('kn.gates', 'does not bypass a rule that denies or escalates it', async () => {
    for (const tool of looksRestricted)
      expect([tool, await reportOf(tool)]).toEqual([tool, 'DENY MALFORMED_ARGUMENTS']);
    expect(await reportOf('shell.exec')).toBe('DENY POLICY_DENIED');
    expect(await reportOf('files.delete')).toBe('DENY POLICY_DENIED');
    expect(await reportOf('pay__send')).toBe('ESCALATE APPROVAL_REQUIRED');
    for (const tool of ['shell.execute', 'files.deleted', 'Weather', 'get__weather'])
      expect([tool, await reportOf(tool)]).toEqual([tool, 'ALLOW ALLOWED']);
  });

  verifies('kn.gates', 'is rejected with a forbidden character, and nothing is sealed', async () => {
    const unseen = ['\u0082', '\u0085', '\u009b', '\u2028', '\u2800', '\ufff9', '\ue000', '\ufdd0'];
    for (const tool of unseen.flatMap((one) => [`shell${one}.exec`, `shell.${one}exec`, `shell.exec${one}`])) {
      const session_id = newSession();
      const call = { tool, effect_level: 'E1', session_id };
      expect([tool, await refusal(new Caller(test).decide(call))]).toEqual([tool, 'INVALID_REQUEST']);
      expect(await receiptsOf(test, session_id)).toEqual([]);
    }
  });

  verifies('kn.gates', 'does not bypass a block', async () => {
    await test.system.putToolBlocks({ params: { tenant: 'acme' }, body: { version: 1, tools: ['disk.wipe', 'Fax'] } });
    for (const tool of ['disk.wipe', 'disk__wipe', 'Disk.Wipe', 'disk.wipe\u200d', 'disk__ｗipe', 'fax', 'Fax'])
      expect([tool, await reportOf(tool)]).toEqual([tool, 'DENY TOOL_BLOCKED']);
    expect(await reportOf('disk.wiper')).toBe('ALLOW ALLOWED');
  });

  verifies('kn.budget', 'does not bypass a budget: all its spellings count as one tool', async () => {
    for (const [id, subject] of [
      ['dotted', 'tool:files.read'],
      ['function', 'tool:notes__read'],
    ] as const)
      await test.as('acme').putBudget({
        params: { budget_id: id },
        body: {
          subject,
          window: 'total',
          tool_call_limit: 1,
          spend_limit_minor: null,
          currency: null,
          egress_limit_bytes: null,
          write_limit: null,
          approval_required_above_minor: null,
        },
      });
    expect([await reportOf('files__read'), await reportOf('files.read')]).toEqual([
      'ALLOW ALLOWED',
      'DENY BUDGET_EXCEEDED',
    ]);
    for (const tool of ['Files.Read', 'FILES__READ', 'files.read\u200d'])
      expect([tool, await reportOf(tool)]).toEqual([tool, 'DENY BUDGET_EXCEEDED']);
    expect([await reportOf('notes.read'), await reportOf('notes__read')]).toEqual([
      'ALLOW ALLOWED',
      'DENY BUDGET_EXCEEDED',
    ]);
  });
});
