import { useParams } from '@tanstack/react-router';
import { IncidentDetail } from './incident-detail.tsx';
import { IncidentList } from './incident-list.tsx';

/** `/incidents`: what went wrong here. `/incidents/{incident_id}`: one of it, with what was done about it. */
export function IncidentsPage() {
  const { id }: { id?: string } = useParams({ strict: false });
  return id === undefined ? <IncidentList /> : <IncidentDetail id={id} key={id} />;
}
