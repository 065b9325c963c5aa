import { IncidentSeverity } from '@countersign/contracts/control-plane';

/** Severities are declared in rising order. */
export function worseOf(left: IncidentSeverity, right: IncidentSeverity): IncidentSeverity {
  const { options } = IncidentSeverity;
  return options.indexOf(left) < options.indexOf(right) ? right : left;
}
