import { expect, it } from '@jest/globals';
import { identityDemanded } from '../src/identity-demands.ts';
import { policyWith } from './sealed-policies.ts';

const call = (tool: string | null, args = {}) => ({ action: tool === null ? 'model.call' : 'tool.call', tool, args });
const demanded = (body: object | null, intent = call('files.read')) =>
  [...identityDemanded(body === null ? null : policyWith(body), intent)].sort();

it('nothing is demanded without a policy, or by one that demands nothing', () => {
  expect(demanded(null)).toEqual([]);
  expect(demanded({})).toEqual([]);
});

it('what is demanded of all is demanded of each, and of a tool what it demands besides', () => {
  const tools = { 'files.read': { effect_level: 'E1', identity: ['enrolled'] } };
  expect(demanded({ identity: ['proven'] })).toEqual(['proven']);
  expect(demanded({ tools })).toEqual(['enrolled']);
  expect(demanded({ identity: ['proven'], tools })).toEqual(['enrolled', 'proven']);
  expect(demanded({ identity: ['proven'], tools }, call('files.write'))).toEqual(['proven']);
  expect(demanded({ tools }, call('files__read'))).toEqual(['enrolled']);
  expect(demanded({ tools }, call(null, { hosted_tools: ['pay.send', 'files.read'] }))).toEqual(['enrolled']);
  expect(demanded({ tools }, call(null, { hosted_tools: ['pay.send'] }))).toEqual([]);
});
