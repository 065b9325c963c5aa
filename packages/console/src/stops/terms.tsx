type Props = { of: { limit: number | null; window_seconds: number | null } };

/** The calls that a throttle lets through. */
export function Terms({ of: { limit, window_seconds: seconds } }: Props) {
  if (limit === null || seconds === null) return null;
  return (
    <span className="quiet">
      {' '}
      {limit} in {seconds} s
    </span>
  );
}
