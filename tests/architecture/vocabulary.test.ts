import { describe, expect, it } from '@jest/globals';
import { graphOf } from './import-graph.ts';
import { readGraph, readText } from './repository.ts';
import { roomsUseTheirVerbs, verbsOf, verbsStayInTheirRooms } from './rules/verbs.ts';

const graph = readGraph();
const verbs = verbsOf(readText('docs/vocabulary.md'));

/** Still to be renamed. Each line goes with its name. */
const exceptions = [
  'services/governance-kernel/src/boundary/reply.ts: closeReply',
  'services/governance-kernel/src/call/normalise.ts: SealedIntent',
  'services/governance-kernel/src/chat/fragments.ts: settled',
];

describe('the verbs of the vocabulary', () => {
  it('are all read from the document', () => {
    const named = ['close', 'conclude', 'decide', 'dispatch', 'gather', 'judge', 'park', 'seal', 'settle'];
    expect(verbs.map(({ verb }) => verb)).toEqual(named);
  });

  it('name things in their own rooms only', () => {
    const offences = verbsStayInTheirRooms(graph, verbs);
    expect(offences.filter((offence) => !exceptions.some((exception) => offence.startsWith(exception)))).toEqual([]);
  });

  it('are used in every room that the document names', () => {
    expect(roomsUseTheirVerbs(graph, verbs)).toEqual([]);
  });
});

describe('the rule about verbs', () => {
  const room = 'services/governance-kernel/src/boundary';
  const settle = verbsOf('- **settle**: to record the outcome. Rooms:\n  `governance-kernel/boundary`, `verifier`.\n');
  const offencesOf = (sources: Record<string, string>) => verbsStayInTheirRooms(graphOf(sources), settle);

  it.each([
    'function settle() {}',
    'class A { #settleAll() {} }',
    'class Settler {}',
    'type Settlement = 1;',
    'type A = { settle(): void };',
    'const settledCount = 1;',
  ])('notices `%s` in another room', (text) => {
    expect(offencesOf({ 'packages/messaging/src/a.ts': text })).toHaveLength(1);
    expect(offencesOf({ [`${room}/a.ts`]: text, 'packages/verifier/src/a.ts': text })).toEqual([]);
  });

  it('notices a file that is named so', () => {
    expect(offencesOf({ 'packages/messaging/src/settle-all.ts': '' })).toHaveLength(1);
  });

  it('leaves other words, fields and texts alone', () => {
    const text = "const b = unsettling({ settle: 'settled' }); // settle";
    expect(offencesOf({ 'packages/a/src/a.ts': text })).toEqual([]);
    const close = verbsOf('- **close**: to end. Rooms: `database`.\n');
    const innocent = graphOf({ 'packages/a/src/a.ts': 'type Closure = 1; const failClosedCodes = 2;' });
    expect(verbsStayInTheirRooms(innocent, close)).toEqual([]);
  });

  it('notices a room that has stopped using its verb', () => {
    const sources = { [`${room}/a.ts`]: 'function settle() {}', 'packages/verifier/src/a.ts': 'function verify() {}' };
    expect(roomsUseTheirVerbs(graphOf(sources), settle)).toEqual(['verifier does not use settle']);
  });
});
