import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { Page } from '../parts/page.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';

/** Replaces a page that cannot be shown at all. */
export function PageFault({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <div className="alone">
      <ProblemNote error={error} retry={() => void router.invalidate()} />
    </div>
  );
}

export function NoSuchPage() {
  return (
    <Page title="Page not found">
      <p>No page has this address. It may be misspelled or belong to another version.</p>
      <p>
        <a href="/console/overview">Overview</a>
      </p>
    </Page>
  );
}
