import type { Framework } from './framework.ts';

/**
 * Trust services criteria of 2017 with the points of focus of 2022: the criteria that receipts can evidence at least in
 * part.
 */
export const soc2: Framework = {
  title: 'SOC 2: Trust Services Criteria (2017, points of focus 2022)',
  controls: [
    {
      id: 'CC4.1',
      title: 'Evaluations of internal control',
      asks: 'Ongoing or separate evaluations show whether controls are present and work.',
      adds: 'Conformance runs test the boundary, and each run is sealed in a receipt.',
      evidence: ['conformance_runs', 'denials'],
      beyondReceipts: 'Receipts do not show evaluations of controls outside of this product.',
    },
    {
      id: 'CC6.1',
      title: 'Logical access',
      asks: 'Logical access to protected assets is restricted.',
      adds: 'Each action of an agent is decided before it runs, and the decision is signed.',
      evidence: ['decisions', 'denials', 'relation_changes'],
      beyondReceipts: 'Receipts do not show access of people to systems behind the boundary.',
    },
    {
      id: 'CC6.2',
      title: 'Registration and removal of credentials',
      asks: 'Users are registered and authorised before they get credentials, and credentials end when access ends.',
      adds: 'Agents, their keys and the passkeys of approvers have signed records from enrolment to revocation.',
      evidence: ['identity_changes', 'passkey_changes', 'identity_provider_changes', 'member_changes'],
      beyondReceipts: 'Receipts do not show who authorised an access request outside of this product.',
    },
    {
      id: 'CC6.3',
      title: 'Roles, least privilege and segregation of duties',
      asks: 'Access follows roles, least privilege and segregation of duties.',
      adds: 'A person other than the requester decides on an escalated action, and the vote is bound to that action.',
      evidence: ['rule_denials', 'approvals', 'relation_changes', 'member_changes'],
      beyondReceipts: 'Receipts do not show periodic reviews of access rights.',
    },
    {
      id: 'CC6.6',
      title: 'Threats from outside of the system',
      asks: 'Measures protect against threats from outside of the system boundary.',
      adds: 'Each call is allowed or denied by its destination and its source.',
      evidence: ['egress_denials', 'identity_denials'],
      beyondReceipts: 'Receipts do not show firewalls and other protection of the network.',
    },
    {
      id: 'CC6.7',
      title: 'Transmission of information',
      asks: 'Transmission, movement and removal of information are restricted to authorised users and processes.',
      adds: 'A call to a destination that is not allowed is refused before any byte is sent.',
      evidence: ['egress_denials', 'allowed_tool_calls'],
      beyondReceipts: 'Receipts do not show encryption in transit or removable media.',
    },
    {
      id: 'CC6.8',
      title: 'Unauthorised or malicious software',
      asks: 'Unauthorised or malicious software is prevented, or detected and acted upon.',
      adds: 'Tools are pinned by the hash of their definition, and a changed tool is held.',
      evidence: ['registry_denials', 'sandbox_denials', 'connector_changes'],
      beyondReceipts: 'Receipts do not show protection of servers and devices against malware.',
    },
    {
      id: 'CC7.2',
      title: 'Monitoring for anomalies',
      asks: 'Components are monitored for anomalies, which are analysed as possible security events.',
      adds: 'Refusals and failures have signed records with a reason code.',
      evidence: ['denials', 'failed_outcomes'],
      beyondReceipts: 'Receipts do not show that a person analysed the anomalies.',
    },
    {
      id: 'CC7.4',
      title: 'Response to incidents',
      asks: 'Identified security incidents are contained, remediated and communicated.',
      adds: 'A stop is effective at the next decision, and its receipts show the time of both.',
      evidence: ['stop_changes', 'stop_denials', 'incident_records'],
      beyondReceipts: 'Receipts do not show communication and lessons learned.',
    },
    {
      id: 'CC8.1',
      title: 'Change management',
      asks: 'Changes are authorised, tested, approved and implemented.',
      adds: 'A change of the policy is decided as a governed action, and its activation is signed.',
      evidence: ['policy_changes', 'policy_proposals'],
      beyondReceipts: 'Receipts do not show changes of software and infrastructure.',
    },
    {
      id: 'PI1.3',
      title: 'Complete, valid and accurate processing',
      asks: 'Processing is complete, valid, accurate, timely and authorised.',
      adds: 'Each dispatched action has a decision before it and an outcome after it, in one chain.',
      evidence: ['decisions', 'outcomes'],
      beyondReceipts: 'Receipts do not show that the contents of a result are accurate.',
    },
  ],
};
