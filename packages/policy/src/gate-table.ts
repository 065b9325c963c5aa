import { gateOrder } from '@countersign/contracts';
import type { GateName } from '@countersign/contracts';
import type { Gate } from './gate.ts';
import { approval } from './gates/approval.ts';
import { argumentsGate } from './gates/arguments.ts';
import { budget } from './gates/budget.ts';
import { egress } from './gates/egress.ts';
import { fence } from './gates/fence.ts';
import { identity } from './gates/identity.ts';
import { policy } from './gates/policy.ts';
import { provenance } from './gates/provenance.ts';
import { registry } from './gates/registry.ts';
import { relationship } from './gates/relationship.ts';
import { request } from './gates/request.ts';
import { rules } from './gates/rules.ts';
import { sandbox } from './gates/sandbox.ts';
import { scopes } from './gates/scopes.ts';

export type GateTable = Readonly<Record<GateName, Gate>>;

/** The compiler rejects this table if it lacks a gate of the contracts. */
export const gates: GateTable = {
  request,
  fence,
  policy,
  identity,
  relationship,
  registry,
  arguments: argumentsGate,
  scopes,
  sandbox,
  egress,
  provenance,
  rules,
  budget,
  approval,
};

/** The gates that a decision runs, in order. */
export function wiredGates(): GateName[] {
  // Stryker disable next-line MethodExpression,ConditionalExpression: The compiler rejects a table that lacks a gate.
  return gateOrder.filter((gate) => typeof gates[gate] === 'function');
}
