import type { Framework } from './framework.ts';

/**
 * OWASP Top 10 for Agentic Applications 2026. The framework lists risks instead of requirements, so `asks` is the
 * mitigation that receipts can evidence.
 */
export const owaspAgentic2026: Framework = {
  title: 'OWASP Top 10 for Agentic Applications (2026)',
  controls: [
    {
      id: 'ASI01',
      title: 'Agent Goal Hijack',
      asks: 'Actions of an agent stay within what it is allowed to do, whatever its input asks for.',
      adds: 'The decision depends on the action and the policy, never on the words of a prompt.',
      evidence: ['decisions', 'rule_denials', 'escalations'],
      beyondReceipts: 'Receipts do not show why an agent proposed an action.',
    },
    {
      id: 'ASI02',
      title: 'Tool Misuse and Exploitation',
      asks: 'Tools are called within their purpose, arguments and limits.',
      adds: 'Arguments are checked against the pinned schema, and rules against each call.',
      evidence: ['allowed_tool_calls', 'rule_denials', 'budget_denials'],
      beyondReceipts: 'Receipts do not show a harmful use that the policy allows.',
    },
    {
      id: 'ASI03',
      title: 'Identity and Privilege Abuse',
      asks: 'Each agent has its own identity and least privilege.',
      adds: 'Unknown and revoked agents are refused, and each key has a record.',
      evidence: ['identity_changes', 'identity_denials', 'relation_changes'],
      beyondReceipts: 'Receipts do not show privileges of the credentials that a tool itself uses.',
    },
    {
      id: 'ASI04',
      title: 'Agentic Supply Chain Vulnerabilities',
      asks: 'Tools and servers are known, and a change is found before use.',
      adds: 'Definitions of tools are pinned by hash, and a changed tool is held.',
      evidence: ['registry_denials', 'connector_changes'],
      beyondReceipts: 'Receipts do not show vulnerabilities inside an approved tool or a model.',
    },
    {
      id: 'ASI05',
      title: 'Unexpected Code Execution',
      asks: 'Code of agents runs in a sandbox with the grants that it needs.',
      adds: 'A call beyond its sandbox grant is refused.',
      evidence: ['sandbox_denials', 'egress_denials'],
      beyondReceipts: 'Receipts do not show isolation inside of a sandbox.',
    },
    {
      id: 'ASI06',
      title: 'Memory and Context Poisoning',
      asks: 'Poisoned memory and context do not lead to actions that are not allowed.',
      adds: 'Refusals show the limit of what poisoned context can cause.',
      evidence: ['rule_denials'],
      beyondReceipts: 'Receipts do not show the contents of memory and context.',
    },
    {
      id: 'ASI07',
      title: 'Insecure Inter-Agent Communication',
      asks: 'Calls between agents are authenticated.',
      adds: 'A call with an unknown or revoked identity, or past the boundary, is refused.',
      evidence: ['identity_denials'],
      beyondReceipts: 'Receipts do not show messages between agents that do not use the boundary.',
    },
    {
      id: 'ASI08',
      title: 'Cascading Failures',
      asks: 'Limits and stops keep one failure from spreading.',
      adds: 'Budgets and stops are part of each decision.',
      evidence: ['budget_denials', 'stop_changes', 'failed_outcomes'],
      beyondReceipts: 'Receipts do not show failures of systems behind the boundary.',
    },
    {
      id: 'ASI09',
      title: 'Human-Agent Trust Exploitation',
      asks: 'People see what they approve, and approve nothing else.',
      adds: 'An approval is bound to the exact action, which is shown before the vote.',
      evidence: ['approvals', 'rejections', 'approved_actions'],
      beyondReceipts: 'Receipts do not show whether a person was misled by what an agent wrote.',
    },
    {
      id: 'ASI10',
      title: 'Rogue Agents',
      asks: 'An agent that leaves its bounds is found and stopped.',
      adds: 'A stop or a revocation is effective at the next decision.',
      evidence: ['denials', 'stop_changes', 'stop_denials'],
      beyondReceipts: 'Receipts do not show agents that do not use the boundary.',
    },
  ],
};
