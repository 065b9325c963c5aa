type Props<Value extends string> = {
  label: string;
  value: Value | undefined;
  options: readonly Value[];
  /** The shown text of a value, by default the value itself. */
  inWords?: (value: Value) => string;
  onChange: (value: Value | undefined) => void;
};

/** Filters a list by one value. The first choice is no filter. */
export function Facet<Value extends string>({ label, value, options, inWords = String, onChange }: Props<Value>) {
  return (
    <label className="chooser">
      <span>{label}</span>
      <select
        value={value ?? ''}
        onChange={({ target }) => onChange(options.find((option) => option === target.value))}
      >
        <option value="">all</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {inWords(option)}
          </option>
        ))}
      </select>
    </label>
  );
}
