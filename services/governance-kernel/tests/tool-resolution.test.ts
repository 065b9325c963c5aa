import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isAppError, type ApprovalId } from '@countersign/contracts';
import { authorizeMcpCall } from '@countersign/contracts/governance-kernel';
import { Caller, ledgerOf, newSession, said, type Call } from './_caller.ts';
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
/** Allows every action, or lets a person decide about tools: what a name is refused for is not the rules' doing. */
async function activate(effect: 'allow' | 'escalate', tools: Record<string, { effect_level: string }> = {}) {
  const own = effect === 'allow' ? '*' : 'model.call';
  const asks = effect === 'allow' ? '' : '  - { id: asks, effect: escalate, match: { action: [tool.call] } }\n';
  const rules = `rules:\n  - { id: all, effect: allow, match: { action: ['${own}'] } }\n${asks}`;
  const head = `format: countersign/policy.v1\nname: names\nversion: '1'\n`;
  await site.test.activate('acme', `${head}${rules}tools: ${JSON.stringify(tools)}\n`, (epoch += 1));
}

/** Doors that take one name. `authorize-call` takes a server and a tool, and no alias. */
const toolDoors = doors.filter(({ registered, route }) => registered && route !== authorizeMcpCall);
const ofEachDoor = toolDoors.map((door) => [door.name, door] as const);

/** The answer of one door to one call, with the name and effect in the ledger. */
async function judged(door: Door, given: Partial<Attempt>) {
  const session = given.session ?? newSession();
  const told = await attempt(site, door, { ...given, session });
  const sealed = (await ledgerOf(site.test, session)).map(({ payload }) => payload);
  const receipt = sealed.find(({ receipt_id }) => receipt_id === told.receiptId);
  const { tool, effect_level: effect, approval_id: approval } = receipt ?? {};
  return { said: `${told.verdict} ${told.code}`, executed: told.executed, tool, effect, approval };
}

/** The result of asking beforehand: the name that the approval is for, or the refusal. */
async function askedBeforehand(call: Call): Promise<{ id: ApprovalId; tool: string | null } | string> {
  const question = { action: 'tool.call', session_id: newSession(), reason: 'for a test', ...call };
  try {
    const { body } = await agent.client.createApproval({ body: question as never }); // a test writes plain names
    return { id: body.approval_id, tool: body.tool };
  } catch (error) {
    if (isAppError(error)) return `${error.code} ${error.reasonCode}`;
    throw error;
  }
}

const canonical = 'notes.write_note';
const called = 'notes__write_note';

describe.each(ofEachDoor)('at %s', (_name, door) => {
  it.each([canonical, called])('%s is the registered tool, with its name and its effect', async (tool) => {
    const seen = await judged(door, { tool });
    expect(seen).toMatchObject({ said: 'ALLOW ALLOWED', executed: true, tool: canonical, effect: 'E2' });
  });

  it('an undeclared tool is E4, and the kernel executes none', async () => {
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

  it('an approval that was asked for beforehand fits the call, however either spells the tool', async () => {
    await activate('escalate');
    const spellings = [canonical, called].flatMap((asked) => [canonical, called].map((tool) => ({ asked, tool })));
    const args = { id: 'a', text: 'x' };
    for (const { asked, tool } of spellings) {
      const session = newSession();
      const demand = door.costs ? { demand: { spend_minor: 1 } } : {};
      const approval = await askedBeforehand({ tool: asked, args, session_id: session, ...demand });
      if (typeof approval === 'string') throw new Error(approval);
      expect(approval.tool).toBe(canonical);
      await approve(site.test, approval.id);
      const seen = await judged(door, { tool, args, session });
      // A proposal takes nothing: the approval is left for its execution.
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
  ['in the bold letters of mathematics', '𝐍𝐎𝐓𝐄𝐒.write_note'],
  ['with a full-width dot', 'notes．write_note'],
  ['with a zero-width joiner', 'no\u200dtes.write_note'],
  ['with a soft hyphen before the dot', 'notes\u00ad.write_note'],
  ['with a long s', 'noteſ.write_note'],
  ['as a function in another case', 'NOTES__write_note'],
  ['as a function with full-width lines', 'notes＿＿write_note'],
];

/** The server is the declared one, letter for letter: what it does not list, it does not have. */
const unlisted: [string, string][] = [
  ['with another case', 'notes.Write_note'],
  ['as a function with another case', 'notes__Write_note'],
  ['with a zero-width joiner', 'notes.write_note\u200d'],
  ['that its server never listed', 'notes__archive'],
];

describe('a name that could be taken for another', () => {
  it.each(lookAlikes)('is refused at every door when it is a declared server %s', async (_case, tool) => {
    for (const door of toolDoors) {
      const seen = await judged(door, { tool });
      expect([door.name, seen]).toMatchObject([door.name, { said: 'DENY MALFORMED_ARGUMENTS', executed: false, tool }]);
    }
    expect(await askedBeforehand({ tool })).toBe('POLICY_DENIED MALFORMED_ARGUMENTS');
  });

  it.each(unlisted)('is no tool of its server %s', async (_case, tool) => {
    for (const door of toolDoors) {
      const seen = await judged(door, { tool });
      expect([door.name, seen]).toMatchObject([door.name, { said: 'DENY TOOL_UNKNOWN', executed: false }]);
    }
  });

  it('is refused when its server lists both; the plain spelling stays', async () => {
    const twin = 'read\u200d_note';
    site.notes.addTool({ name: twin, description: 'Reads one note.', inputSchema: { type: 'object' } });
    const call = { args: { id: 'a' } };
    for (const door of toolDoors) {
      const refused = await judged(door, { ...call, tool: `notes.${twin}` });
      expect([door.name, refused.said, refused.executed]).toEqual([door.name, 'DENY MALFORMED_ARGUMENTS', false]);
      expect((await judged(door, { ...call, tool: 'notes.read_note' })).said).toBe('ALLOW ALLOWED');
    }
  });

  it('is refused when a tool that the bundle declares looks like it', async () => {
    await activate('allow', { 'crm.read': { effect_level: 'E1' } });
    const sayings = [];
    for (const tool of ['crm.read', 'CRM.read', 'crm．read', 'crm.re\u2060ad'])
      sayings.push(said(await agent.decide({ tool })), await askedBeforehand({ tool }));
    await activate('allow');
    const refused = ['DENY MALFORMED_ARGUMENTS', 'POLICY_DENIED MALFORMED_ARGUMENTS'];
    expect(sayings).toMatchObject(['ALLOW ALLOWED', { tool: 'crm.read' }, ...refused, ...refused, ...refused]);
  });
});

const write = { tool: canonical, args: { id: 'a', text: 'x' } };
const effectOf = async (call: Call) => (await agent.decide(call)).receipt.payload.effect_level;

describe('what a caller says of a tool', () => {
  it.each(['data.egress', 'model.call', 'connector.invoke'])('cannot make it something else: %s', async (action) => {
    for (const tool of [canonical, called]) {
      expect(said(await agent.decide({ ...write, tool, action }))).toBe('DENY MALFORMED_ARGUMENTS');
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

  it('is refused where the call of a tool names none, though its resource reads like one', async () => {
    const call = { resource: 'shell.run', effect_level: 'E0' };
    expect(said(await agent.decide(call))).toBe('DENY MALFORMED_ARGUMENTS');
    expect(await askedBeforehand(call)).toBe('POLICY_DENIED MALFORMED_ARGUMENTS');
  });

  it('counts for an approval that was asked for beforehand: one of a milder effect covers no graver call', async () => {
    await activate('escalate');
    const outcomes = [];
    for (const asked of [{}, { effect_level: 'E4' }]) {
      const session_id = newSession();
      const approval = await askedBeforehand({ ...write, ...asked, session_id });
      if (typeof approval === 'string') throw new Error(approval);
      await approve(site.test, approval.id);
      outcomes.push(said(await agent.decide({ ...write, session_id, effect_level: 'E4' })));
    }
    await activate('allow');
    expect(outcomes).toEqual(['ESCALATE APPROVAL_REQUIRED', 'ALLOW ALLOWED']);
  });
});
