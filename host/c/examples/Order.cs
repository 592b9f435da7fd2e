// Judges an output of a model from .NET, by P/Invoke.
//
// NOT RUN: no test of this repository compiles or runs this file. It is here to show how the functions are declared.
using System.Runtime.InteropServices;
using System.Text;

/// <summary>There is no verdict.</summary>
public sealed class SeamgateException(string fault) : Exception(fault);

/// <summary>A gate. Threads may share one. Dispose of it after the last call has returned.</summary>
public sealed class Gate : IDisposable
{
    private const string Library = "libseamgate.so.0";

    [StructLayout(LayoutKind.Sequential)]
    private struct Text { public IntPtr Data; public nuint Length; }

    [DllImport(Library)]
    private static extern int seamgate_gate_new(byte[] options, nuint optionsLength, byte[]? component,
        nuint componentLength, out IntPtr gate, out Text fault);

    [DllImport(Library)]
    private static extern int seamgate_register(IntPtr gate, byte[] contract, nuint length, out Text info);

    [DllImport(Library)]
    private static extern int seamgate_validate(IntPtr gate, byte[] agent, nuint agentLength, byte[] output,
        nuint outputLength, byte[]? extras, nuint extrasLength, out Text report, IntPtr usage);

    [DllImport(Library)]
    private static extern void seamgate_text_free(ref Text text);

    [DllImport(Library)]
    private static extern void seamgate_gate_free(IntPtr gate);

    private IntPtr handle;

    public Gate(string options = "{}")
    {
        var bytes = Encoding.UTF8.GetBytes(options);
        Answer(seamgate_gate_new(bytes, (nuint)bytes.Length, null, 0, out handle, out var fault), fault);
    }

    public string Register(string contract)
    {
        var bytes = Encoding.UTF8.GetBytes(contract);
        return Answer(seamgate_register(handle, bytes, (nuint)bytes.Length, out var info), info);
    }

    /// <summary>Returns the report as JSON text.</summary>
    public string Validate(string agent, byte[] output)
    {
        var name = Encoding.UTF8.GetBytes(agent);
        var status = seamgate_validate(handle, name, (nuint)name.Length, output, (nuint)output.Length, null, 0,
            out var report, IntPtr.Zero);
        return Answer(status, report);
    }

    public void Dispose()
    {
        seamgate_gate_free(Interlocked.Exchange(ref handle, IntPtr.Zero));
    }

    private static string Answer(int status, Text text)
    {
        var said = text.Data == IntPtr.Zero ? "" : Marshal.PtrToStringUTF8(text.Data, checked((int)text.Length));
        seamgate_text_free(ref text);
        return status == 0 ? said : throw new SeamgateException(said);
    }
}

public static class Program
{
    public static void Main()
    {
        using var gate = new Gate();
        gate.Register("""
            {"agent": "orders", "schema": {"type": "object", "required": ["count"],
             "properties": {"count": {"type": "integer", "minimum": 1}}}}
            """);
        Console.WriteLine(gate.Validate("orders", "So: ```json\n{\"count\": 2}\n```"u8.ToArray()));
    }
}
