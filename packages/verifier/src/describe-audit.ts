import { forTerminal } from './for-terminal.ts';
import type { AuditReport } from './verify-audit.ts';

/** The command's output for an audit log. Each line is safe to print. */
export function describeAudit({ verdict, workspace, entries, head, missing, fault }: AuditReport): string {
  const lines = [
    `${verdict}: ${fault === null ? `${entries} entries` : faultText(fault)}`,
    `  ${whose(workspace)}`,
    `  head          ${head ?? 'none'}`,
    ...missing.map((gap) => `    missing: ${gap}`),
  ];
  return lines.map((line) => `${forTerminal(line)}\n`).join('');
}

function faultText({ code, message, line }: NonNullable<AuditReport['fault']>): string {
  return line === 0 ? `${code}: ${message}` : `${code}: ${message} (line ${line})`;
}

function whose(scope: string | null): string {
  return scope?.startsWith('usr_') === true ? `person        ${scope}` : `workspace     ${scope ?? 'not named'}`;
}
