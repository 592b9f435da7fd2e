import { useState } from "react";

type Props = { user: User; token: string; onApproved?: (by: User) => void };

export function View<T extends Props>({ user, token }: T) {
  const [password, setPassword] = useState("");
  const url = `https://${host}/api?token=${token}`;
  // The system prompts the user for a password; the previous one is kept.
  return (
    <form action="/login" onSubmit={submit}>
      <img src="/static/logo.png" alt="logo" />
      <a href="https://docs.example.com/login">Read the instructions</a>
      <a href="/forgot?user=1">Forgot your password?</a>
      <input type="password" name="password" value={password} />
    </form>
  );
}
