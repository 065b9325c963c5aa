import { useState } from 'react';
import { mayDo } from '@countersign/contracts';
import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import type { ScanReport } from '@countersign/contracts/governance-kernel';
import { Stepper } from '../parts/stepper.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { ApproveInstall } from './approve-install.tsx';
import { hasServer } from './connector-cards.tsx';
import { isAsApproved, isEnabled } from './connector-state.ts';
import { InstallForm } from './install-form.tsx';
import { ScanTools } from './scan-tools.tsx';
import type { ConnectorRow } from './use-connectors.ts';

const steps = [
  { name: 'Choose', missing: 'Choose a connector.' },
  { name: 'Credentials', missing: 'Enter what the server accepts, and install the connector.' },
  { name: 'Scan', missing: 'Scan the tools that it lists.' },
  { name: 'Approve', missing: 'Approve exactly these tools.' },
] as const;
const [chosen, installed, scanned] = [1, 2, 3];

/** The steps until agents can call the tools of a connector. Absent when its tools are as approved. */
export function InstallSteps({ row }: { row: ConnectorRow }) {
  const { role } = useWorkspace();
  const [report, setReport] = useState<ScanReport | null>(null);
  const { install } = row;
  if (hasServer(row) && install !== null && isAsApproved(install)) return null;
  const done = doneOf(row, report);
  return (
    <section className="panel-card" aria-label="Steps to use it">
      <Stepper label="Steps to use it" steps={steps} done={done} />
      {mayDo(role, 'tool.manage') ? (
        <CurrentStep row={row} report={report} done={done} onScanned={setReport} />
      ) : (
        <p className="quiet">Only owners can install and approve connectors.</p>
      )}
    </section>
  );
}

function doneOf(row: ConnectorRow, report: ScanReport | null): number {
  if (!hasServer(row) || row.install === null) return chosen;
  return row.install.approval_request !== null || isScanned(row.install, report) ? scanned : installed;
}

/** A scan counts only for the definitions that an approval would bind. */
function isScanned({ definitions_hash: current }: ConnectorInstall, report: ScanReport | null): boolean {
  return report !== null && report.problem === null && current !== null && report.definitions_hash === current;
}

type Props = {
  row: ConnectorRow;
  report: ScanReport | null;
  done: number;
  onScanned: (report: ScanReport) => void;
};

function CurrentStep({ row, report, done, onScanned }: Props) {
  const { entry, install } = row;
  if (done === chosen || !isEnabled(install))
    return entry === null ? (
      <p className="note note-wait">The catalogue no longer contains this connector, so it cannot be installed.</p>
    ) : (
      <InstallForm entry={entry} act="Install" />
    );
  return (
    <>
      {install.approval_request === null && (
        <ScanTools
          connectorId={row.id}
          report={report}
          isCurrent={report === null || isScanned(install, report)}
          onScanned={onScanned}
        />
      )}
      {done === scanned && install.definitions_hash !== null && (
        <ApproveInstall install={install} hash={install.definitions_hash} />
      )}
    </>
  );
}
