import type { ReportedMember, ReportedQuery } from '@countersign/contracts';
import type { CallReport } from '@countersign/contracts/gateway';

/** A report in a form to paste into an issue. It contains only known names and ids, so nothing needs escaping. */
export function reportText(report: CallReport): string {
  const { method, path, status, errorCode, reasonCode, body } = report;
  const outcome = [status, errorCode, reasonCode].filter((piece) => piece !== null).join(' ');
  const ids = Object.entries(report.pathIds).map(([name, id]) => `${name}=${id}`);
  const size = body.bytes === null ? 'of unknown length' : `${body.bytes} bytes`;
  const lines: [string, string | null][] = [
    ['request', report.requestId],
    ['time', report.createdAt],
    ['in the path', ids.length === 0 ? null : ids.join(' ')],
    ['workspace', report.workspaceId],
    ['caller', `${report.principal} (${report.auth})`],
    ['task', report.taskId],
    ['run', report.runId],
    ['decision', report.decisionId],
    ['query', shapeText(report.query)],
    ['body', body.state === 'none' ? null : `${body.contentType ?? 'no type'}, ${size}, ${shapeText(body)}`],
    ['gateway', report.version],
  ];
  const texts = lines.flatMap(([name, value]) => (value === null ? [] : [`  ${name.padEnd(12)} ${value}`]));
  return [`${method} ${path} was answered ${outcome}`, ...texts, ''].join('\n');
}

function shapeText({ state, members, unknownMembers, isCut }: ReportedQuery): string | null {
  if (state === 'none') return null;
  if (state !== 'read') return state;
  const texts = members.filter(({ path }) => path !== '$' || members.length === 1).map(memberText);
  const unknown = unknownMembers === 0 ? [] : [`${unknownMembers} unknown`];
  return [...texts, ...unknown, ...(isCut ? ['and more'] : [])].join(', ');
}

function memberText({ path, type, size }: ReportedMember): string {
  return `${path}: ${type}${size === null ? '' : `(${size})`}`;
}
