import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { AppError, ErrorEnvelope } from '@countersign/contracts';
import { exportReceipts, type StoredReceipt } from '@countersign/contracts/governance-kernel';
import { sendInSession } from '../api/clients.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';

/** Saves the receipt with its record and its proof, as an export of one receipt that `countersign verify` reads. */
export function DownloadReceipt({ receipt: { payload } }: { receipt: StoredReceipt }) {
  const { id: workspaceId } = useWorkspace();
  const { receipt_id: id } = payload;
  const file = `${id}.jsonl`;
  const save = useMutation({
    mutationFn: async () => saveText(file, await readExport(workspaceId, payload)),
  });
  return (
    <section aria-label="Download">
      <h2>Download</h2>
      <p className="quiet">
        The receipt with its record and its proof. Anyone can check it offline, with keys of their own.
      </p>
      {save.error !== null && <ProblemNote error={save.error} />}
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden="true" />}
        loading={save.isPending}
        onClick={() => save.mutate()}
      >
        Download receipt
      </Button>
      <p className="quiet">
        <CopyText text={`countersign verify ${file} --keys keys.json --partial --require integrity`} whole />
      </p>
    </section>
  );
}

type Place = Pick<StoredReceipt['payload'], 'session_id' | 'lamport_clock'>;

async function readExport(workspaceId: string, { session_id, lamport_clock }: Place): Promise<string> {
  const query = new URLSearchParams({ session_id, from_lamport_clock: String(lamport_clock), limit: '1' });
  const url = `${location.origin}${exportReceipts.path}?${query.toString()}`;
  const response = await sendInSession(url, { headers: { 'x-workspace-id': workspaceId } });
  const text = await response.text();
  if (response.ok) return text;
  const { error } = ErrorEnvelope.parse(JSON.parse(text));
  throw new AppError('UPSTREAM_FAILED', error.message, { details: { request_id: error.request_id } });
}

function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/jsonl' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
