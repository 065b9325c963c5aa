import { expect, it } from '@jest/globals';
import { boundaryTargets } from '../src/doors/status/boundary-targets.ts';

const person = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const named = {
  ...{ agents: ['idle', 'crawler', 'crawler'], tools: ['crm.read'], servers: ['crm', 'mail'] },
  counted: [
    { principal: 'crawler', tool: 'crm.read', calls: 2 },
    { principal: 'crawler', tool: null, calls: 5 },
    { principal: 'writer', tool: 'crm.write', calls: 3 },
    { principal: 'writer', tool: 'crmless', calls: 1 },
    { principal: person, tool: null, calls: 9 },
  ],
  areAllCounted: true,
};

it('the possible targets are all registered names and past callers except people, busiest first', () => {
  expect(boundaryTargets(named)).toEqual({
    agents: [
      { principal_id: 'crawler', calls_last_7d: 7 },
      { principal_id: 'writer', calls_last_7d: 4 },
      { principal_id: 'idle', calls_last_7d: 0 },
    ],
    tools: [
      { tool: 'crm.write', calls_last_7d: 3 },
      { tool: 'crm.read', calls_last_7d: 2 },
      { tool: 'crmless', calls_last_7d: 1 },
    ],
    servers: [
      { server_id: 'crm', calls_last_7d: 5 },
      { server_id: 'mail', calls_last_7d: 0 },
    ],
    ...{ calls_last_7d: 11, is_whole: true },
  });
});

it('the possible targets are incomplete with more names than fit into an answer, or with uncounted calls', () => {
  const agents = Array.from({ length: 501 }, (_, nth) => `agent-${nth}`);
  const many = boundaryTargets({ ...named, agents, counted: [] });
  expect([many.is_whole, many.agents.length]).toEqual([false, 500]);
  expect(boundaryTargets({ ...named, areAllCounted: false }).is_whole).toBe(false);
});
