import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '../src/index.ts';
import type { CompiledPolicy, Facts, IdentityFact } from '../src/index.ts';
import type { Situation } from './gate-situations.ts';
import { bundleOf, identityOf, knownFact } from './situation.ts';

/** The results of the identity gate. */
export const identitySituations: Situation[] = [
  {
    code: 'CREDENTIALS_MISSING',
    when: 'the policy requires proof and the caller only states a name',
    policy: demanding({ identity: ['proven'] }),
    facts: identityIs({ credential: 'operator_key' }),
  },
  {
    code: 'CREDENTIALS_MISSING',
    when: 'the call spells the name of a tool that requires proof differently',
    policy: demanding({ tools: { files__read: { effect_level: 'E1', identity: ['proven'] } } }),
    facts: identityIs({ credential: 'none' }),
  },
  {
    code: 'CREDENTIALS_MISSING',
    when: 'a hosted tool requires proof',
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
    when: 'the policy requires enrolment and the agent is not enrolled',
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
    when: 'the state of the key is unknown',
    facts: identityIs({ credential_state: 'novel' as never }),
  },
  {
    code: 'AGENT_UNKNOWN',
    when: 'the identity is not applicable',
    facts: { identity: { state: 'not_applicable' } },
  },
  { code: 'AGENT_REVOKED', when: 'the agent was revoked', facts: identityIs({ enrolment: 'revoked' }) },
  {
    code: 'AGENT_REVOKED',
    when: 'an operator calls in the name of a revoked agent',
    facts: identityIs({ credential: 'operator_key', enrolment: 'revoked' }),
  },
  {
    code: 'AGENT_REVOKED',
    when: 'the key of the agent was revoked',
    facts: identityIs({ credential_state: 'revoked' }),
  },
  {
    code: 'ALLOWED',
    when: 'the agent meets each requirement of the policy',
    policy: demanding({ identity: ['proven', 'enrolled'] }),
  },
  {
    code: 'ALLOWED',
    when: 'only another tool requires proof',
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
