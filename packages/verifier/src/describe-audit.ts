import { forTerminal } from './for-terminal.ts';
import type { AuditReport } from './verify-audit.ts';

/** What the command prints of an audit log. Each line is safe to print. */
export function describeAudit({ verdict, workspace, entries, head, missing, fault }: AuditReport): string {
  const what = fault === null ? `${entries} entries` : `${fault.code}: ${fault.message} (line ${fault.line})`;
  const lines = [
    `${verdict}: ${what}`,
    `  ${whose(workspace)}`,
    `  head          ${head ?? 'none'}`,
    ...missing.map((gap) => `    missing: ${gap}`),
  ];
  return lines.map((line) => `${forTerminal(line)}\n`).join('');
}

function whose(scope: string | null): string {
  return scope?.startsWith('usr_') === true ? `person        ${scope}` : `workspace     ${scope ?? 'not named'}`;
}
