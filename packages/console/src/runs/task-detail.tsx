import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import type { Run, Task } from '@countersign/contracts/gateway';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { ShownText } from '../parts/shown.tsx';
import { usePageSearch } from '../workspace/page-search.ts';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { RunTrace } from './run-trace.tsx';
import { inWords, isLive } from './statuses.ts';

const Search = z.object({ run: z.string().optional().catch(undefined) });
const watchMs = 1_000;

export function TaskDetail({ id }: { id: string }) {
  const task = useWorkspaceQuery(['task', id], (client, signal) => client.getTask({ params: { id }, signal }), {
    everyMs: (last) => (last !== undefined && isLiveTask(last) ? watchMs : false),
  });
  return (
    <Page
      title={task.data === undefined ? 'Run' : task.data.title}
      above={{ title: 'Runs', to: '/runs' }}
      actions={<RunTask id={id} says="Run again" />}
    >
      <Loaded query={task}>
        {({ description }) => (
          <section aria-label="Task">
            <ShownText text={description} label="Description of the task" />
          </section>
        )}
      </Loaded>
      <Runs id={id} />
    </Page>
  );
}

function isLiveTask({ status }: Task): boolean {
  return status === 'queued' || status === 'running' || status === 'awaiting_approval';
}

function Runs({ id }: { id: string }) {
  const runs = useWorkspaceQuery(['runs', id], (client, signal) => client.listRuns({ params: { id }, signal }), {
    everyMs: (last) => (last?.data.some(isLive) === true ? watchMs : false),
  });
  return <Loaded query={runs}>{({ data }) => <ChosenRun id={id} runs={data} />}</Loaded>;
}

function ChosenRun({ id, runs }: { id: string; runs: Run[] }) {
  const [search, change] = usePageSearch(Search);
  const chosen = runs.find((run) => run.id === search.run) ?? runs[0];
  if (chosen === undefined)
    return (
      <EmptyState title="Not run yet" action={<RunTask id={id} says="Run task" />}>
        Its trace appears here: each step with its decision and receipt.
      </EmptyState>
    );
  return (
    <>
      {runs.length > 1 && (
        <label className="chooser">
          <span>Run</span>
          <select value={chosen.id} onChange={({ target }) => change({ run: target.value })}>
            {runs.map(({ id: runId, createdAt, status }) => (
              <option key={runId} value={runId}>
                {new Date(createdAt).toLocaleString()}: {inWords(status)}
              </option>
            ))}
          </select>
        </label>
      )}
      <RunTrace run={chosen} />
    </>
  );
}

function RunTask({ id, says }: { id: string; says: string }) {
  const { id: workspaceId, client } = useWorkspace();
  const queries = useQueryClient();
  const run = useMutation({
    mutationFn: () => client.runTask({ params: { id } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [workspaceId] }),
  });
  return (
    <>
      <Button variant="default" loading={run.isPending} onClick={() => run.mutate()}>
        {says}
      </Button>
      {run.error !== null && <ProblemNote error={run.error} />}
    </>
  );
}
