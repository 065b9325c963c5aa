import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '../src/index.ts';
import type { CompiledPolicy, Facts, IdentityFact } from '../src/index.ts';
import type { Situation } from './gate-situations.ts';
import { bundleOf, identityOf, knownFact } from './situation.ts';

/** Each way in which the gate of identity answers. */
export const identitySituations: Situation[] = [
  {
    code: 'CREDENTIALS_MISSING',
    when: 'the policy demands a proof and the caller only claims a name',
    policy: demanding({ identity: ['proven'] }),
    facts: identityIs({ credential: 'operator_key' }),
  },
  {
    code: 'CREDENTIALS_MISSING',
    when: 'a tool demands a proof, whatever the name is spelled like',
    policy: demanding({ tools: { files__read: { effect_level: 'E1', identity: ['proven'] } } }),
    facts: identityIs({ credential: 'none' }),
  },
  {
    code: 'CREDENTIALS_MISSING',
    when: 'a tool that a model lets its provider run demands a proof',
    policy: demanding({ tools: { web_search: { effect_level: 'E1', identity: ['proven'] } } }),
    call: { action: 'model.call', tool: null, args: { hosted_tools: ['web_search'] } },
    facts: { ...identityIs({ credential: 'operator_key' }), registry: { state: 'not_applicable' } },
  },
  {
    code: 'CREDENTIALS_MISSING',
    when: 'the kind of credential is unknown',
    policy: demanding({ identity: ['proven'] }),
    facts: identityIs({ credential: 'novel' as never }),
  },
  {
    code: 'AGENT_UNKNOWN',
    when: 'the policy demands enrolment and the agent is not enrolled',
    policy: demanding({ identity: ['enrolled'] }),
    facts: identityIs({ enrolment: 'none' }),
  },
  {
    code: 'AGENT_UNKNOWN',
    when: 'the key belongs to another principal',
    facts: identityIs({ credential_state: 'unknown' }),
  },
  {
    code: 'AGENT_UNKNOWN',
    when: 'the state of the key is none that is known',
    facts: identityIs({ credential_state: 'novel' as never }),
  },
  {
    code: 'AGENT_UNKNOWN',
    when: 'identities are judged not applicable',
    facts: { identity: { state: 'not_applicable' } },
  },
  { code: 'AGENT_REVOKED', when: 'the agent was revoked', facts: identityIs({ enrolment: 'revoked' }) },
  {
    code: 'AGENT_REVOKED',
    when: 'the agent was revoked and an operator names it',
    facts: identityIs({ credential: 'operator_key', enrolment: 'revoked' }),
  },
  { code: 'AGENT_REVOKED', when: 'its key was revoked', facts: identityIs({ credential_state: 'revoked' }) },
  {
    code: 'ALLOWED',
    when: 'the agent is all that the policy demands',
    policy: demanding({ identity: ['proven', 'enrolled'] }),
  },
  {
    code: 'ALLOWED',
    when: 'another tool demands more',
    policy: demanding({ tools: { 'mail.send': { effect_level: 'E3', identity: ['proven'] } } }),
    facts: identityIs({ credential: 'operator_key', enrolment: 'none' }),
  },
  {
    code: 'ALLOWED',
    when: 'an operator calls',
    facts: identityIs({ credential: 'operator_key', enrolment: 'none' }),
  },
];

function identityIs(changes: Partial<IdentityFact>): Partial<Facts> {
  return { identity: knownFact(identityOf(changes)) };
}
function demanding(members: object): CompiledPolicy {
  const bundle = { ...bundleOf([{ id: 'allow', effect: 'allow' }]), ...members };
  return compilePolicy(parsePolicyBundle(bundle), nodeProvider);
}
