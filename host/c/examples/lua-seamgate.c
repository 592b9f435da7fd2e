/* A module for Lua 5.4: seamgate.new(options) returns a gate, with the methods register and validate. */
#include <lauxlib.h>
#include <lua.h>

#include <seamgate.h>

static const char GATE[] = "seamgate.gate";

/* The gate that is the first argument. */
static seamgate_gate *gate(lua_State *lua) {
    return *(seamgate_gate **)luaL_checkudata(lua, 1, GATE);
}

/* Returns a text of the library to Lua; for a fault, nil and its text. */
static int answer(lua_State *lua, seamgate_status status, seamgate_text *text) {
    if (status != SEAMGATE_STATUS_OK) {
        lua_pushnil(lua);
    }
    lua_pushlstring(lua, text->length > 0 ? text->data : "", text->length);
    seamgate_text_free(text);
    return status == SEAMGATE_STATUS_OK ? 1 : 2;
}

static int gate_new(lua_State *lua) {
    size_t length;
    const char *options = luaL_optlstring(lua, 1, "", &length);
    seamgate_gate **place = (seamgate_gate **)lua_newuserdatauv(lua, sizeof *place, 0);
    seamgate_text text;
    *place = NULL;
    luaL_setmetatable(lua, GATE);
    seamgate_status status = seamgate_gate_new(options, length, NULL, 0, place, &text);
    return status == SEAMGATE_STATUS_OK ? 1 : answer(lua, status, &text);
}

static int gate_register(lua_State *lua) {
    size_t length;
    const char *contract = luaL_checklstring(lua, 2, &length);
    seamgate_text text;
    seamgate_status status = seamgate_register(gate(lua), contract, length, &text);
    return answer(lua, status, &text);
}

static int gate_validate(lua_State *lua) {
    size_t agent_length, output_length, extras_length;
    const char *agent = luaL_checklstring(lua, 2, &agent_length);
    const char *output = luaL_checklstring(lua, 3, &output_length);
    const char *extras = luaL_optlstring(lua, 4, "", &extras_length);
    seamgate_text text;
    seamgate_status status = seamgate_validate(gate(lua), agent, agent_length, output, output_length, extras,
                                               extras_length, &text, NULL);
    return answer(lua, status, &text);
}

static int gate_free(lua_State *lua) {
    seamgate_gate **place = (seamgate_gate **)luaL_checkudata(lua, 1, GATE);
    seamgate_gate_free(*place);
    *place = NULL;
    return 0;
}

int luaopen_seamgate(lua_State *lua) {
    static const luaL_Reg methods[] = {{"register", gate_register}, {"validate", gate_validate}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"new", gate_new}, {NULL, NULL}};
    luaL_newmetatable(lua, GATE);
    luaL_newlib(lua, methods);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, gate_free);
    lua_setfield(lua, -2, "__gc");
    lua_pop(lua, 1);
    luaL_newlib(lua, functions);
    return 1;
}
