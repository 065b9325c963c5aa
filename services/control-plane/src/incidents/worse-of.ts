import { IncidentSeverity } from '@countersign/contracts/control-plane';

/** The severities are in the order in which they rise. */
export function worseOf(left: IncidentSeverity, right: IncidentSeverity): IncidentSeverity {
  const { options } = IncidentSeverity;
  return options.indexOf(left) < options.indexOf(right) ? right : left;
}
