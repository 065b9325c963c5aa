import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ScanReport } from '@countersign/contracts/governance-kernel';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Findings } from '../tools/findings.tsx';
import { useRegistry } from '../tools/use-registry.ts';
import { useReadAgain } from './use-marketplace.ts';

type Props = {
  connectorId: string;
  report: ScanReport | null;
  /** `false` when the scan read other tools than an approval would bind. */
  isCurrent: boolean;
  onScanned: (report: ScanReport) => void;
};

/** Scans the tools that the server lists now, and shows the findings before the approval. */
export function ScanTools({ connectorId, report, isCurrent, onScanned }: Props) {
  const registry = useRegistry();
  const readAgain = useReadAgain();
  const scan = useMutation({
    mutationFn: async () =>
      (await registry.scanMcpServer({ query: {}, body: { server_id: connectorId } })).body.reports[0],
    onSuccess: (found) => {
      if (found !== undefined) onScanned(found);
    },
    // The install is read again, so that its definitions are compared with the scanned ones.
    onSettled: readAgain,
  });
  return (
    <div className="stacked">
      <div>
        <Button
          size="xs"
          variant={report === null ? 'filled' : 'default'}
          loading={scan.isPending}
          onClick={() => scan.mutate()}
        >
          {report === null ? 'Scan tools' : 'Scan again'}
        </Button>
      </div>
      {scan.error !== null && <ProblemNote error={scan.error} />}
      {report !== null && <Findings findings={report.findings} problem={report.problem} />}
      {report !== null && report.problem === null && !isCurrent && (
        <p className="note note-wait" role="alert">
          The server lists other tools now than the kernel recorded. Install the connector again, then scan its tools.
        </p>
      )}
    </div>
  );
}
