import { mayDo } from '@countersign/contracts';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useShortcuts } from '../keys/shortcuts.ts';
import { CopyCommand } from '../parts/copy-command.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { More } from '../parts/more.tsx';
import { Page } from '../parts/page.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useWorkspaceList } from '../workspace/workspace-list.ts';
import { BudgetTable } from './budget-table.tsx';
import { CeilingForm } from './ceiling-form.tsx';

const askAgainMs = 5_000;

/** The budgets of the workspace, with usage and forecast of the month. */
export function BudgetsPage() {
  const { id, role } = useWorkspace();
  const queries = useQueryClient();
  const [isOpen, form] = useDisclosure();
  const maySet = mayDo(role, 'settings.manage');
  const list = useWorkspaceList(['budgets'], (client, { signal, ...at }) => client.listBudgets({ query: at, signal }), {
    everyMs: askAgainMs,
  });
  return (
    <Page
      title="Budgets"
      about="Every call is checked against these ceilings. The most that a call can use is reserved before it is sent. The unused part is released."
      actions={maySet ? <SetCeiling onSet={form.open} /> : <p className="quiet">Only owners can set ceilings.</p>}
    >
      <Loaded query={list.query}>
        {({ items: budgets }) =>
          budgets.length === 0 ? (
            <NoBudget onSet={maySet ? form.open : null} />
          ) : (
            <BudgetTable budgets={budgets} readAtMs={list.query.dataUpdatedAt} />
          )
        }
      </Loaded>
      <More list={list} />
      <CopyCommand words="budgets ls" filters={{ cursor: list.cursor }} count={list.count} />
      <CeilingForm
        isOpen={isOpen}
        onClose={form.close}
        onSet={() => {
          form.close();
          void queries.invalidateQueries({ queryKey: [id, 'budgets'] });
        }}
      />
    </Page>
  );
}

function SetCeiling({ onSet }: { onSet: () => void }) {
  useShortcuts([{ keys: 's', says: 'Set the monthly ceiling', run: onSet }]);
  return <Button onClick={onSet}>Set the ceiling</Button>;
}

function NoBudget({ onSet }: { onSet: (() => void) | null }) {
  return (
    <EmptyState
      title="No budgets yet"
      action={
        onSet !== null && (
          <Button variant="default" onClick={onSet}>
            Set a monthly ceiling for models
          </Button>
        )
      }
    >
      A budget limits what a workspace, an agent or a tool may use in a period. A call that would exceed it is denied
      before it is sent. An owner sets the first budget here, for one month.
    </EmptyState>
  );
}
