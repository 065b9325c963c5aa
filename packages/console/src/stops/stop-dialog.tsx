import { Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { StopKind } from '@countersign/contracts/control-plane';
import { Choice } from '../parts/choice.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { stopKinds } from './kinds.ts';
import { StopFields } from './stop-form.tsx';

const kinds = (['freeze', 'quarantine', 'throttle'] as const).map((id) => ({ id, name: stopKinds[id].title }));

/** Stops something from any page. The incidents page then shows whether the kernel has confirmed the stop. */
export function StopDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [kind, setKind] = useState<StopKind>('freeze');
  const show = () => {
    onClose();
    void queries.invalidateQueries({ queryKey: [id, 'ops'] });
    void navigate({ to: '/incidents' });
  };
  return (
    <Modal opened={isOpen} onClose={onClose} title="Stop something">
      <div className="stacked">
        <Choice label="How" value={kind} options={kinds} onChange={setKind} />
        <StopFields key={kind} kind={kind} onGiven={show} />
      </div>
    </Modal>
  );
}
