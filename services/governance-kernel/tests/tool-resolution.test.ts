import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isAppError, type ApprovalId } from '@countersign/contracts';
import { authorizeMcpCall } from '@countersign/contracts/governance-kernel';
import { Caller, ledgerOf, newSession, answerOf, type Call } from './_caller.ts';
import { attempt, connectMcp, doors, type Attempt, type Door, type Site } from './_doors.ts';
import { approve, startUpstreams } from './_upstreams.ts';

let site: Site;
let agent: Caller;
beforeAll(async () => {
  const upstreams = await startUpstreams();
  site = { ...upstreams, mcp: await connectMcp(upstreams.test.kernel.url) };
  agent = new Caller(site.test);
  await activate('allow');
});
afterAll(async () => {
  await site.mcp.close();
  await site.close();
});

let epoch = 0;
/** Allows every action, or requires an approval for tools. A name is therefore never refused by a rule. */
async function activate(effect: 'allow' | 'escalate', tools: Record<string, { effect_level: string }> = {}) {
  const own = effect === 'allow' ? '*' : 'model.call';
  const asks = effect === 'allow' ? '' : '  - { id: asks, effect: escalate, match: { action: [tool.call] } }\n';
  const rules = `rules:\n  - { id: all, effect: allow, match: { action: ['${own}'] } }\n${asks}`;
  const head = `format: countersign/policy.v1\nname: names\nversion: '1'\n`;
  await site.test.activate('acme', `${head}${rules}tools: ${JSON.stringify(tools)}\n`, (epoch += 1));
}

/**
 * Routes that name the tool by one string, which may be an alias. `authorize-call` takes a server and a tool instead.
 */
const toolDoors = doors.filter(({ registered, route }) => registered && route !== authorizeMcpCall);
const ofEachDoor = toolDoors.map((door) => [door.name, door] as const);

/** Calls one route. Returns its answer, and the tool name and effect in the ledger. */
async function judged(door: Door, input: Partial<Attempt>) {
  const session = input.session ?? newSession();
  const answer = await attempt(site, door, { ...input, session });
  const sealed = (await ledgerOf(site.test, session)).map(({ payload }) => payload);
  const receipt = sealed.find(({ receipt_id }) => receipt_id === answer.receiptId);
  const { tool, effect_level: effect, approval_id: approval } = receipt ?? {};
  return { said: `${answer.verdict} ${answer.code}`, executed: answer.executed, tool, effect, approval };
}

/** Requests an approval beforehand. Returns its ID and tool name, or the refusal. */
async function askedBeforehand(call: Call): Promise<{ id: ApprovalId; tool: string | null } | string> {
  const question = { action: 'tool.call', session_id: newSession(), reason: 'for a test', ...call };
  try {
    const { body } = await agent.client.createApproval({ body: question as never }); // unbranded strings
    return { id: body.approval_id, tool: body.tool };
  } catch (error) {
    if (isAppError(error)) return `${error.code} ${error.reasonCode}`;
    throw error;
  }
}

const canonical = 'notes.write_note';
const called = 'notes__write_note';

describe.each(ofEachDoor)('at %s', (_name, door) => {
  it.each([canonical, called])('%s resolves to the registered tool, with its name and effect', async (tool) => {
    const seen = await judged(door, { tool });
    expect(seen).toMatchObject({ said: 'ALLOW ALLOWED', executed: true, tool: canonical, effect: 'E2' });
  });

  it('an undeclared tool is E4, and the kernel does not execute it', async () => {
    const seen = await judged(door, { tool: 'crm.read' });
    const verdict = door.dispatched ? 'DENY TOOL_UNKNOWN' : 'ALLOW ALLOWED';
    expect(seen).toMatchObject({ said: verdict, executed: !door.dispatched, tool: 'crm.read', effect: 'E4' });
  });

  it('a bundle raises the effect that the registry declares, and never lowers it', async () => {
    await activate('allow', { [canonical]: { effect_level: 'E3' }, 'notes.pay': { effect_level: 'E0' } });
    const seen = [await judged(door, {}), await judged(door, { tool: 'notes.pay', args: { amount: 1 } })];
    await activate('allow');
    expect(seen.map(({ tool, effect }) => [tool, effect])).toEqual([
      [canonical, 'E3'],
      ['notes.pay', 'E4'],
    ]);
  });

  it('an approval that was requested beforehand covers the call, in either spelling of the tool', async () => {
    await activate('escalate');
    const spellings = [canonical, called].flatMap((requested) =>
      [canonical, called].map((tool) => ({ requested, tool })),
    );
    const args = { id: 'a', text: 'x' };
    for (const { requested, tool } of spellings) {
      const session = newSession();
      const demand = door.costs ? { demand: { spend_minor: 1 } } : {};
      const approval = await askedBeforehand({ tool: requested, args, session_id: session, ...demand });
      if (typeof approval === 'string') throw new Error(approval);
      expect(approval.tool).toBe(canonical);
      await approve(site.test, approval.id);
      const seen = await judged(door, { tool, args, session });
      // The proposal of a call consumes no approval, so that the execution of the call can use the approval.
      const used = door.proposed ? undefined : approval.id;
      expect(seen).toMatchObject({ said: 'ALLOW ALLOWED', executed: true });
      expect(seen.approval).toBe(used);
    }
    await activate('allow');
  });
});

const lookAlikes: [string, string][] = [
  ['in another case', 'Notes.write_note'],
  ['in full width', 'ｎｏｔｅｓ.write_note'],
  ['in bold mathematical letters', '𝐍𝐎𝐓𝐄𝐒.write_note'],
  ['with a full-width dot', 'notes．write_note'],
  ['with a zero-width joiner', 'no\u200dtes.write_note'],
  ['with a soft hyphen before the dot', 'notes\u00ad.write_note'],
  ['with a long s', 'noteſ.write_note'],
  ['as a function name in another case', 'NOTES__write_note'],
  ['as a function name with full-width underscores', 'notes＿＿write_note'],
];

/** The server name matches exactly, but the server does not list these tools. */
const unlisted: [string, string][] = [
  ['with another case', 'notes.Write_note'],
  ['as a function name with another case', 'notes__Write_note'],
  ['with a zero-width joiner', 'notes.write_note\u200d'],
  ['with an unlisted name', 'notes__archive'],
];

describe('a name that could be confused with another', () => {
  it.each(lookAlikes)('is refused on every route when it only resembles a declared server: %s', async (_case, tool) => {
    for (const door of toolDoors) {
      const seen = await judged(door, { tool });
      expect([door.name, seen]).toMatchObject([door.name, { said: 'DENY MALFORMED_ARGUMENTS', executed: false, tool }]);
    }
    expect(await askedBeforehand({ tool })).toBe('POLICY_DENIED MALFORMED_ARGUMENTS');
  });

  it.each(unlisted)('is an unknown tool of its server: %s', async (_case, tool) => {
    for (const door of toolDoors) {
      const seen = await judged(door, { tool });
      expect([door.name, seen]).toMatchObject([door.name, { said: 'DENY TOOL_UNKNOWN', executed: false }]);
    }
  });

  it('is refused when its server lists both, while the plain spelling still works', async () => {
    const twin = 'read\u200d_note';
    site.notes.addTool({ name: twin, description: 'Reads one note.', inputSchema: { type: 'object' } });
    const call = { args: { id: 'a' } };
    for (const door of toolDoors) {
      const refused = await judged(door, { ...call, tool: `notes.${twin}` });
      expect([door.name, refused.said, refused.executed]).toEqual([door.name, 'DENY MALFORMED_ARGUMENTS', false]);
      expect((await judged(door, { ...call, tool: 'notes.read_note' })).said).toBe('ALLOW ALLOWED');
    }
  });

  it('is refused when it looks like a tool that the bundle declares', async () => {
    await activate('allow', { 'crm.read': { effect_level: 'E1' } });
    const sayings = [];
    for (const tool of ['crm.read', 'CRM.read', 'crm．read', 'crm.re\u2060ad'])
      sayings.push(answerOf(await agent.decide({ tool })), await askedBeforehand({ tool }));
    await activate('allow');
    const refused = ['DENY MALFORMED_ARGUMENTS', 'POLICY_DENIED MALFORMED_ARGUMENTS'];
    expect(sayings).toMatchObject(['ALLOW ALLOWED', { tool: 'crm.read' }, ...refused, ...refused, ...refused]);
  });
});

const write = { tool: canonical, args: { id: 'a', text: 'x' } };
const effectOf = async (call: Call) => (await agent.decide(call)).receipt.payload.effect_level;

describe('the statement of a caller about a tool', () => {
  it.each(['data.egress', 'model.call', 'connector.invoke'])('cannot change its action: %s', async (action) => {
    for (const tool of [canonical, called]) {
      expect(answerOf(await agent.decide({ ...write, tool, action }))).toBe('DENY MALFORMED_ARGUMENTS');
      expect(await askedBeforehand({ ...write, tool, action })).toBe('POLICY_DENIED MALFORMED_ARGUMENTS');
    }
  });

  it('raises the effect and never lowers it', async () => {
    for (const [effect_level, sealed] of [
      ['E0', 'E2'],
      ['E2', 'E2'],
      ['E3', 'E3'],
      ['E4', 'E4'],
    ] as const)
      expect([effect_level, await effectOf({ ...write, effect_level })]).toEqual([effect_level, sealed]);
    expect(await effectOf({ tool: 'crm.read', effect_level: 'E1' })).toBe('E4');
    expect(await effectOf({ tool: 'crm.read', action: 'data.egress', effect_level: 'E1' })).toBe('E4');
    expect(await effectOf({ action: 'data.egress', effect_level: 'E1' })).toBe('E3');
    expect(await effectOf({ action: 'report.look', effect_level: 'E1' })).toBe('E1');
  });

  it('is refused when a tool call names no tool, even if its resource looks like one', async () => {
    const call = { resource: 'shell.run', effect_level: 'E0' };
    expect(answerOf(await agent.decide(call))).toBe('DENY MALFORMED_ARGUMENTS');
    expect(await askedBeforehand(call)).toBe('POLICY_DENIED MALFORMED_ARGUMENTS');
  });

  it('applies to an approval requested beforehand: a lower effect does not cover a call with a higher one', async () => {
    await activate('escalate');
    const outcomes = [];
    for (const request of [{}, { effect_level: 'E4' }]) {
      const session_id = newSession();
      const approval = await askedBeforehand({ ...write, ...request, session_id });
      if (typeof approval === 'string') throw new Error(approval);
      await approve(site.test, approval.id);
      outcomes.push(answerOf(await agent.decide({ ...write, session_id, effect_level: 'E4' })));
    }
    await activate('allow');
    expect(outcomes).toEqual(['ESCALATE APPROVAL_REQUIRED', 'ALLOW ALLOWED']);
  });
});
