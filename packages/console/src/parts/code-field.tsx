import { TextInput } from '@mantine/core';

type Props = { about: string; shownCode: string | null; code: string; onChange: (code: string) => void };

/**
 * A field for a mailed code. `about` describes where it was sent. `shownCode` is the code in development, where no mail
 * is sent.
 */
export function CodeField({ about, shownCode, code, onChange }: Props) {
  return (
    <>
      <TextInput
        label="Code"
        description={shownCode === null && about}
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        withAsterisk={false}
        autoFocus
        value={code}
        onChange={(event) => onChange(event.target.value.normalize('NFKC').replace(/\D/g, ''))}
      />
      {shownCode !== null && (
        <p className="note">
          This server sends no mail. Your code is <code aria-label="Code for development">{shownCode}</code>.
        </p>
      )}
    </>
  );
}
