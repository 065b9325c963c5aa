import { expect, it } from '@jest/globals';
import { identityDemanded } from '../src/identity-demands.ts';
import { policyWith } from './sealed-policies.ts';

const call = (tool: string | null, args = {}) => ({ action: tool === null ? 'model.call' : 'tool.call', tool, args });
const demanded = (body: object | null, intent = call('files.read')) =>
  [...identityDemanded(body === null ? null : policyWith(body), intent)].sort();

it('no identity is demanded without a policy, or by a policy without demands', () => {
  expect(demanded(null)).toEqual([]);
  expect(demanded({})).toEqual([]);
});

it('the demands of the policy apply to every call, and the demands of a tool in addition', () => {
  const tools = { 'files.read': { effect_level: 'E1', identity: ['enrolled'] } };
  expect(demanded({ identity: ['proven'] })).toEqual(['proven']);
  expect(demanded({ tools })).toEqual(['enrolled']);
  expect(demanded({ identity: ['proven'], tools })).toEqual(['enrolled', 'proven']);
  expect(demanded({ identity: ['proven'], tools }, call('files.write'))).toEqual(['proven']);
  expect(demanded({ tools }, call('files__read'))).toEqual(['enrolled']);
  expect(demanded({ tools }, call(null, { hosted_tools: ['pay.send', 'files.read'] }))).toEqual(['enrolled']);
  expect(demanded({ tools }, call(null, { hosted_tools: ['pay.send'] }))).toEqual([]);
});
