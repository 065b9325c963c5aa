import { linkOf, type AuditRow, type Link } from './audit-rows.ts';

type Props = {
  workspace: readonly AuditRow[];
  /** `null` when this person may not read the control plane log, or when the read failed. */
  controlPlane: readonly AuditRow[] | null;
  isNarrowed: boolean;
};

/** The result of the link check for each chain. */
export function AuditClaims({ workspace, controlPlane, isNarrowed }: Props) {
  if (isNarrowed) return <p className="quiet">The list is filtered, so the links between entries are not checked.</p>;
  return (
    <ul className="quiet" aria-label="Checks of the logs">
      <li>Workspace log: {inWords(linkOf(workspace))}</li>
      {controlPlane !== null && <li>Control plane log: {inWords(linkOf(controlPlane))}</li>}
    </ul>
  );
}

function inWords(link: Link | null): string {
  if (link === null) return 'no entries yet.';
  const { newest, oldest, brokenAt } = link;
  if (brokenAt !== null)
    return `entry ${brokenAt} does not contain the hash of the entry before it. Export the log and verify it.`;
  return `entries ${oldest} to ${newest} are complete. Each contains the hash of the entry before it. You can verify an export offline.`;
}
