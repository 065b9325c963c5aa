import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { RunSummary, Task } from '@countersign/contracts/gateway';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyCommand } from '../parts/copy-command.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { inMoney } from '../parts/in-money.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { Shown } from '../parts/shown.tsx';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { StartRun } from './start-run.tsx';
import { StepStrip } from './step-strip.tsx';
import { useLatestRuns } from './use-latest-runs.ts';
import { inWords, toneOf } from './statuses.ts';

const askAgainMs = 3_000;

export function TaskList() {
  const [isOpen, form] = useDisclosure();
  useShortcuts([{ keys: 'n', says: 'Start a run', run: form.open }]);
  const list = useWorkspaceList(['tasks'], (client, { signal, ...at }) => client.listTasks({ query: at, signal }), {
    everyMs: askAgainMs,
  });
  const latestRuns = useLatestRuns(askAgainMs);
  return (
    <Page
      title="Runs"
      about="Tasks that agents work on. Each step is decided before it happens and leaves a signed receipt."
      actions={<Button onClick={form.open}>Start a run</Button>}
    >
      <Loaded query={list.query}>
        {({ items: tasks }) =>
          tasks.length === 0 ? <NoTask onStart={form.open} /> : <Tasks tasks={tasks} runs={latestRuns} />
        }
      </Loaded>
      <More list={list} />
      <CopyCommand words="tasks ls" filters={{ cursor: list.cursor }} count={list.count} />
      <StartRun isOpen={isOpen} onClose={form.close} />
    </Page>
  );
}

function Tasks({ tasks, runs }: { tasks: readonly Task[]; runs: ReadonlyMap<string, RunSummary> }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Tasks">
      <table>
        <thead>
          <tr>
            <th>Task</th>
            <th>State</th>
            <th className="wide">Steps of the latest run</th>
            <th className="wide">Cost</th>
            <th>Changed</th>
            <th className="wide">Id</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <TaskRow key={task.id} task={task} run={runs.get(task.id)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TaskRow({ task: { id, title, status, updatedAt }, run }: { task: Task; run: RunSummary | undefined }) {
  return (
    <tr data-id={id}>
      <td>
        <Link to={`/runs/${id}`}>
          <Shown text={title} />
        </Link>
      </td>
      <td className="tight">
        <Mark tone={toneOf(status)}>{inWords(status)}</Mark>
      </td>
      <td className="wide">{run !== undefined && <StepStrip run={run} />}</td>
      <td className="tight wide">{run !== undefined && inMoney(run.costMinor, run.currency)}</td>
      <td className="tight">
        <Moment at={updatedAt} />
      </td>
      <td className="tight wide">
        <CopyText text={id} />
      </td>
    </tr>
  );
}

function NoTask({ onStart }: { onStart: () => void }) {
  return (
    <EmptyState
      title="No runs yet"
      action={
        <Button variant="default" onClick={onStart}>
          Start the sample task
        </Button>
      }
    >
      A run gives a task to a model, and every call of the model is decided. The sample asks to write a file, so it
      waits for an approval.
    </EmptyState>
  );
}
