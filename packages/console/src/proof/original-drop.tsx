import { useState, type DragEvent } from 'react';

/** A receipt has a few kilobytes, so a larger file is not a receipt. */
const fileBytesMax = 1_000_000;

type Props = { isReady: boolean; onText: (text: string) => void };

/** Reads the original receipt from a file. The file does not leave this page. */
export function OriginalDrop({ isReady, onText }: Props) {
  const [fault, setFault] = useState<string | null>(null);
  const take = async (file: File | undefined) => {
    setFault(null);
    if (file === undefined || !isReady) return;
    if (file.size > fileBytesMax) return setFault('The file is too large to be a receipt.');
    onText(await file.text().catch(() => ''));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void take(event.dataTransfer.files[0]);
  };
  return (
    <div className="drop" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <label htmlFor="original">Drop the original receipt here, or choose its file</label>
      <input
        id="original"
        type="file"
        accept=".json,application/json"
        disabled={!isReady}
        aria-describedby="original-stays"
        onChange={({ currentTarget }) => {
          void take(currentTarget.files?.[0]);
          // Clears the field, so that the same file can be chosen again after a change.
          currentTarget.value = '';
        }}
      />
      <p id="original-stays" className="quiet">
        It is checked in this browser and is not uploaded.
      </p>
      {fault !== null && <p role="alert">{fault}</p>}
    </div>
  );
}
