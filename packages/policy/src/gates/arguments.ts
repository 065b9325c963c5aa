import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

export const argumentsGate: Gate = ({ facts, intent, validateArguments }) => {
  if (facts.registry.state === 'not_applicable') return notApplicable;
  if (facts.registry.state !== 'known' || facts.registry.value.tool === null) return unavailable('arguments');
  const fault = validateArguments(facts.registry.value.tool.input_schema, intent.args);
  return fault === null ? pass : deny('SCHEMA_VIOLATION', `The arguments break the pinned schema: ${fault}.`);
};
