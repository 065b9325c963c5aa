import { expect, it } from '@jest/globals';
import type { DecisionObstacle } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { obstacleOf } from '../src/approvals/obstacle-of.ts';

const userId = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const question = { requested_by: 'crawler', approvers: [], approved_by: [] };

it.each<[DecisionObstacle | null, object, DecisionObstacle | null]>([
  [null, {}, null],
  ['ROLE', {}, 'ROLE'],
  ['OWN_REQUEST', { approvers: [userId] }, 'OWN_REQUEST'],
  ['OWN_REQUEST', { requested_by: userId }, null],
  ['NOT_NAMED', { approvers: ['cfo'] }, null],
  [null, { approvers: ['cfo', userId] }, null],
  ['ALREADY_APPROVED', { approved_by: ['cfo', userId] }, null],
])('obstacle %s applies to the approval %j when the gateway reports %p', (expected, changes, obstacle) => {
  const request = { ...question, ...changes } as unknown as Approval; // the members that are read
  expect(obstacleOf(request, { userId, obstacle })).toBe(expected);
});
