import { mayDo } from '@countersign/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { GivenCommand } from '@countersign/contracts/control-plane';
import { Loaded } from '../parts/loaded.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { FenceList } from './fences.tsx';
import { GivenStop } from './given-stop.tsx';
import { holdsIn, type Options } from './holds.ts';
import { KernelAway } from './kernel-away.tsx';
import { ResumeDialog, type Liftable } from './resume-dialog.tsx';
import { useOps } from './use-ops.ts';

/** The stops in force in the workspace, on another page than their own. An owner can lift them here. */
export function StopsInForce() {
  const { role, id } = useWorkspace();
  const queries = useQueryClient();
  const ops = useOps();
  const [lifting, setLifting] = useState<Liftable | null>(null);
  const [lifted, setLifted] = useState<Options | null>(null);
  const take = (command: GivenCommand) => {
    setLifted({ command, atMs: Date.now() });
    void queries.invalidateQueries({ queryKey: [id] });
  };
  const holds = lifted !== null && (ops.data === undefined || holdsIn(lifted, ops.data, ops.dataUpdatedAt));
  return (
    <section aria-label="In force">
      <div className="section-head">
        <h2>Stopped now</h2>
        <Link to="/incidents">All stops and incidents</Link>
      </div>
      {holds && <GivenStop command={lifted.command} />}
      <Loaded query={ops}>
        {({ kernel, fences, more_fences: more }) => {
          if (kernel === 'unreachable') return <KernelAway />;
          if (fences.length === 0) return <p className="quiet">Nothing is stopped in this workspace.</p>;
          return (
            <>
              <FenceList fences={fences} onResume={mayDo(role, 'stop.lift') ? setLifting : null} />
              {more && <p className="quiet">More stops exist than are shown.</p>}
            </>
          );
        }}
      </Loaded>
      <ResumeDialog fence={lifting} onClose={() => setLifting(null)} onGiven={take} />
    </section>
  );
}
